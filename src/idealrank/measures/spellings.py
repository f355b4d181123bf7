"""Other tools' names of our measures: trec_eval, ir_measures, recommender libraries, and common
usage.
"""

# By lower-case spelling: the name of the measure, and the options that the spelling implies.
_SPELLED: dict[str, tuple[str, ...]] = {
    "nDCG": ("ndcg", "ndcg_cut"),
    "DCG": ("dcg",),
    "MeanNDCG": ("meanndcg", "mean_ndcg"),
    "iDCG": ("idcg", "ideal_dcg", "idealdcg"),
    "AP": ("ap", "map", "map_cut"),
    "RR": ("rr", "mrr", "recip_rank"),
    "P": ("p", "precision", "prec"),
    "R": ("r", "recall", "set_recall", "setr"),
    "F": ("f", "f1", "f1_score", "f_measure", "f_score"),
    "ERR": ("err",),
    "RBP": ("rbp",),
    "Rprec": ("rprec", "rprec_mult", "r_prec", "r_precision"),
    "Success": (
        "success",
        "top_k_accuracy",
        "hit",
        "hit_rate",
        "hitrate",
        "hr",
        "hit_ratio",
        "hitratio",
    ),
    "RelP": ("relp", "relative_p", "r_cap", "capped_recall"),
    "GMAP": ("gmap", "gm_map"),
    "IPrec": ("iprec", "iprec_at_recall"),
    "11ptAP": ("11ptap", "11pt_avg"),
    "SetP": ("setp", "set_p"),
    "SetF": ("setf", "set_f"),
    "SetAP": ("setap", "set_map"),
    "prefs_num_prefs_poss": ("prefs_num_prefs_poss",),
    "prefs_num_prefs_ful": ("prefs_num_prefs_ful",),
    "prefs_simp": ("prefs_simp",),
    "prefs_pair": ("prefs_pair",),
    "prefs_avgjg": ("prefs_avgjg",),
    "prefs_avgjg_Rnonrel": ("prefs_avgjg_rnonrel",),
    "AP_avgjg": ("ap_avgjg", "map_avgjg"),
    "P_avgjg": ("p_avgjg",),
    **{
        name: (name.lower(),)
        for name in (
            "INST",
            "INSQ",
            "BPM",
            "SDCG",
            "TBG",
            "GP",
            "NERR8",
            "NERR9",
            "NERR10",
            "NERR11",
        )
    },
    "Bpref": ("bpref",),
    "GMBpref": ("gm_bpref", "gmbpref"),
    "infAP": ("infap",),
    "G": ("g",),
    "binG": ("bing",),
    "RnDCG": ("rndcg",),
    "nDCG_rel": ("ndcg_rel", "ndcgrel"),
    "YAAP": ("yaap",),
    "Utility": ("utility",),
    "Judged": ("judged",),
    "Unjudged": ("unjudged", "unj", "hole"),
    "RelString": ("relstring",),
    "Rprec_avgjg": ("rprec_avgjg", "rprec_mult_avgjg"),
    "NumQ": ("numq", "num_q"),
    "NumRet": ("numret", "num_ret"),
    "NumRel": ("numrel", "num_rel"),
    "NumRelRet": ("numrelret", "num_rel_ret"),
    "AUC": ("auc", "roc_auc", "auroc", "roc_auc_score"),
    "Accuracy": ("accuracy",),
    "OPA": ("opa", "ordered_pair_accuracy"),
    "GradeTau": ("gradetau", "grade_tau"),
    "GradeRho": ("graderho", "grade_rho"),
    "GradeTauAP": ("gradetauap", "grade_tau_ap"),
    "GradeWTau": ("gradewtau", "gradeweightedtau", "grade_weighted_tau"),
    "RankDCG": ("rankdcg", "rank_dcg"),
    "ARP": ("arp",),
    "PWA": ("pwa",),
    "LRAP": ("lrap", "label_ranking_average_precision"),
    "CoverageError": ("coverageerror", "coverage_error"),
    "RankingLoss": ("rankingloss", "ranking_loss", "label_ranking_loss"),
    "Compat": ("compat", "compatibility"),
    "Q": ("q", "q_measure", "qmeasure"),
    "O": ("o", "o_measure", "omeasure"),
    "P+": ("p+", "pplus", "p_plus"),
    "NCU": ("ncu",),
    "nERR": ("nerr",),
    "LastRel": ("lastrel", "last_rel"),
    "WSS": ("wss",),
    "RecallArea": ("recallarea", "norm_area"),
    "NumNonrelJudgedRet": ("numnonreljudgedret", "num_nonrel_judged_ret"),
}
SPELLINGS: dict[str, str] = {
    spelling: name for name, spellings in _SPELLED.items() for spelling in spellings
}
# The same for measures of two runs. A name may be in both tables: `parse_pair_measure` looks here
# first, and `parse_measure` there.
_PAIR_SPELLED: dict[str, tuple[str, ...]] = {
    "RBO": ("rbo", "rbo_ext"),
    "overlap": ("overlap", "intersection"),
    "Jaccard": ("jaccard",),
    "Same": ("same",),
    "tau": ("tau", "tau_b", "taub", "kendall", "kendall_tau", "kendalltau"),
    "tauAP": ("tauap", "tau_ap"),
    "wtau": ("wtau", "weightedtau", "weighted_tau"),
}
PAIR_SPELLINGS: dict[str, str] = {
    spelling: name for name, spellings in _PAIR_SPELLED.items() for spelling in spellings
}
PRESET_OPTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "ndcg_burges": ("nDCG", {"gain": "exp2"}),
    "dcg_burges": ("DCG", {"gain": "exp2"}),
    "msndcg": ("nDCG", {"gain": "linear", "discount": "log2"}),
    "ncugup": ("NCU", {"stop": "graded-uniform", "beta": "0"}),
    "ncugubr": ("NCU", {"stop": "graded-uniform"}),
    "ncurbp": ("NCU", {"stop": "rank-biased", "beta": "0"}),
    "ncurbbr": ("NCU", {"stop": "rank-biased"}),
    # What trec_eval 10 prints as rbp; the bare name is ir_measures' measure.
    "trec_rbp": ("RBP", {"p": "0.9", "max_rel": "query"}),
    "rbp_resid": ("RBP", {"p": "0.9", "of": "residual-seen"}),
    "setrelp": ("SetP", {"relative": "true"}),
    "set_relative_p": ("SetP", {"relative": "true"}),
    "prefs_num_prefs_ful_ret": ("prefs_num_prefs_ful", {"among": "retrieved"}),
    "prefs_simp_ret": ("prefs_simp", {"among": "retrieved"}),
    "prefs_simp_imp": ("prefs_simp", {"among": "implied"}),
    "prefs_pair_ret": ("prefs_pair", {"among": "retrieved"}),
    "prefs_pair_imp": ("prefs_pair", {"among": "implied"}),
    "prefs_avgjg_ret": ("prefs_avgjg", {"among": "retrieved"}),
    "prefs_avgjg_imp": ("prefs_avgjg", {"among": "implied"}),
    "prefs_avgjg_rnonrel_ret": ("prefs_avgjg_Rnonrel", {"among": "retrieved"}),
}
# Options that trec_eval's numbers after a name set, where they are neither a cutoff nor the option
# that is written after the @ here.
AFTER_UNDERSCORE = {
    "rprec_mult": "mult",
    "rprec_mult_avgjg": "mult",
    "set_f": "beta",
    "11pt_avg": "recalls",
    "utility": "a,b,c,d",
}
# Spellings that a cutoff may follow without a sign, as in MRR10. F2 is not among them: its number
# is a beta; rbp95 has a persistence.
CUTOFF_FOLLOWS = frozenset(
    (
        "ndcg",
        "dcg",
        "ap",
        "map",
        "rr",
        "mrr",
        "p",
        "precision",
        "prec",
        "recall",
        "err",
        "success",
        "hit",
        "hit_rate",
        "hitrate",
        "hr",
    )
)
# Options that make another measure of one: ir_measures' NumRet(rel=1) counts relevant documents.
OTHER_WITH = {"NumRet": {"rel": "NumRelRet"}}
# Names that need a number after them: trec_eval's bare Rprec_mult is ten measures.
NUMBERED = frozenset(("rprec_mult", "rprec_mult_avgjg"))
# Well-known measures that are not computed here, for which no similar name is suggested.
ELSEWHERE = frozenset(
    (
        "hits",
        "alpha_ndcg",
        "alpha_dcg",
        "ap_ia",
        "map_ia",
        "p_ia",
        "err_ia",
        "nerr_ia",
        "ndcg_ia",
        "nrbp",
        "nnrbp",
        "strecall",
        "strec",
    )
)
# Other tools' names of options, for measures that have ours and not theirs.
OPTION_SPELLINGS = {"dcg": "gain", "gains": "gain", "k": "cutoff"}
