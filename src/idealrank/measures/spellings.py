"""Other tools' names of our measures: trec_eval's, ir_measures', those of recommender libraries and of common speech."""

# By lower-case spelling: the name of the measure, and the options that the spelling implies.
_SPELLED: dict[str, tuple[str, ...]] = {
    "nDCG": ("ndcg", "ndcg_cut"),
    "DCG": ("dcg",),
    "iDCG": ("idcg", "ideal_dcg", "idealdcg"),
    "AP": ("ap", "map", "map_cut"),
    "RR": ("rr", "mrr", "recip_rank"),
    "P": ("p", "precision", "prec"),
    "R": ("r", "recall", "set_recall"),
    "ERR": ("err",),
    "RBP": ("rbp",),
    "NumQ": ("numq", "num_q"),
    "NumRet": ("numret", "num_ret"),
    "NumRel": ("numrel", "num_rel"),
    "NumRelRet": ("numrelret", "num_rel_ret"),
    "AUC": ("auc", "roc_auc", "auroc", "roc_auc_score"),
    "Accuracy": ("accuracy",),
    "OPA": ("opa", "ordered_pair_accuracy"),
    "tau": ("tau", "tau_b", "taub", "kendall_tau", "kendalltau"),
    "tauAP": ("tauap", "tau_ap"),
    "wtau": ("wtau", "weightedtau", "weighted_tau"),
    "ARP": ("arp",),
    "PWA": ("pwa",),
    "LRAP": ("lrap", "label_ranking_average_precision"),
    "Compat": ("compat", "compatibility"),
    "LastRel": ("lastrel", "last_rel"),
    "WSS": ("wss",),
    "RecallArea": ("recallarea", "norm_area"),
}
SPELLINGS: dict[str, str] = {spelling: name for name, spellings in _SPELLED.items() for spelling in spellings}
# The same for measures of two runs: a name may be in both tables, and who asks decides.
_PAIR_SPELLED: dict[str, tuple[str, ...]] = {
    "RBO": ("rbo", "rbo_ext"),
    "overlap": ("overlap", "intersection"),
    "Jaccard": ("jaccard",),
    "tau": ("tau", "tau_b", "taub", "kendall", "kendall_tau", "kendalltau"),
    "tauAP": ("tauap", "tau_ap"),
    "wtau": ("wtau", "weightedtau", "weighted_tau"),
}
PAIR_SPELLINGS: dict[str, str] = {spelling: name for name, spellings in _PAIR_SPELLED.items() for spelling in spellings}
PRESET_OPTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "ndcg_burges": ("nDCG", {"gain": "exp2"}),
    "dcg_burges": ("DCG", {"gain": "exp2"}),
    # What trec_eval 10 prints as rbp; the bare name is ir_measures' measure.
    "trec_rbp": ("RBP", {"p": "0.9", "max_rel": "query"}),
    "rbp_resid": ("RBP", {"p": "0.9", "of": "residual-seen"}),
}
# Well-known measures that are not computed here: what is spelled alike is not what was meant.
ELSEWHERE = frozenset(
    ("rprec", "r-prec", "bpref", "infap", "gm_map", "gmap", "set_p", "set_recall", "set_f", "success", "hit", "hit_rate",
     "hits", "f1", "judged", "11pt_avg")
)  # fmt: skip
# Other tools' names of options, wherever the measure has ours and not theirs.
OPTION_SPELLINGS = {"dcg": "gain", "gains": "gain", "k": "cutoff"}
