# The one list of public names: type checkers read it, and `_lazy.public_names` loads a name when it
# is first asked for.

from idealrank import clicks as clicks
from idealrank import judging as judging
from idealrank import stats as stats
from idealrank import theory as theory
from idealrank import training as training
from idealrank.analysis.advice import Advice as Advice
from idealrank.analysis.attribution import Attribution as Attribution
from idealrank.analysis.comparison import Comparison as Comparison
from idealrank.analysis.comparison import intervals as intervals
from idealrank.analysis.comparison import with_companions as with_companions
from idealrank.analysis.comparison.partition_sums import ComparisonSums as ComparisonSums
from idealrank.analysis.comparison.partition_sums import MeasureDifference as MeasureDifference
from idealrank.analysis.comparison.slice_differences import Slices as Slices
from idealrank.analysis.comparison.slice_differences import slices as slices
from idealrank.analysis.comparison.slice_membership import traffic_thirds as traffic_thirds
from idealrank.analysis.comparison.slice_means import SliceMeans as SliceMeans
from idealrank.analysis.explanation import Explanation as Explanation
from idealrank.analysis.gate import Contract as Contract
from idealrank.analysis.gate import Gated as Gated
from idealrank.analysis.gate import Policy as Policy
from idealrank.analysis.gate.partition_gate import gate_sums as gate_sums
from idealrank.analysis.recall import IndexRecall as IndexRecall
from idealrank.analysis.recall import QueryLoss as QueryLoss
from idealrank.analysis.recall import RecallSummary as RecallSummary
from idealrank.analysis.reconciliation import DifferenceSplit as DifferenceSplit
from idealrank.analysis.reconciliation import Reconciliation as Reconciliation
from idealrank.analysis.robustness import Robustness as Robustness
from idealrank.analysis.systems import SystemComparison as SystemComparison
from idealrank.analysis.tuning import Choice as Choice
from idealrank.bounds.lift import Lift as Lift
from idealrank.bounds.lift import MeasureLift as MeasureLift
from idealrank.bounds.random_orders import Chance as Chance
from idealrank.inputs.advice import advise as advise
from idealrank.inputs.agreement import kendall as kendall
from idealrank.inputs.agreement import rank_dcg as rank_dcg
from idealrank.inputs.agreement import spearman as spearman
from idealrank.inputs.chance import chance as chance
from idealrank.inputs.comparison import compare as compare
from idealrank.conversion.inputs import convert as convert
from idealrank.inputs.evaluation import dcg as dcg
from idealrank.inputs.evaluation import evaluate as evaluate
from idealrank.inputs.evaluation import ndcg as ndcg
from idealrank.inputs.evaluation import read_qrels as read_qrels
from idealrank.inputs.evaluation import read_run as read_run
from idealrank.inputs.explanation import attribute as attribute
from idealrank.inputs.explanation import explain as explain
from idealrank.inputs.explanation import why as why
from idealrank.inputs.gate import gate as gate
from idealrank.store.held_out import evaluate_once as evaluate_once
from idealrank.judging.inputs import evaluate_answers as evaluate_answers
from idealrank.inputs.overlap import overlap as overlap
from idealrank.inputs.overlap import overlap_matrix as overlap_matrix
from idealrank.inputs.overlap import index_recall as index_recall
from idealrank.inputs.reconciliation import reconcile as reconcile
from idealrank.inputs.reconciliation import split_difference as split_difference
from idealrank.pages.report import report as report
from idealrank.pages.report.saved_page import Page as Page
from idealrank.inputs.robustness import robust as robust
from idealrank.inputs.systems import compare_systems as compare_systems
from idealrank.inputs.systems import seeds as seeds
from idealrank.inputs.tuning import choose as choose
from idealrank.conventions import PRESETS as PRESETS
from idealrank.conventions import Convention as Convention
from idealrank.data.assessors import AssessorQrels as AssessorQrels
from idealrank.data.judged import Judged as Judged
from idealrank.data.lists import Lists as Lists
from idealrank.data.preference_qrels import PreferenceQrels as PreferenceQrels
from idealrank.data.qrels import Qrels as Qrels
from idealrank.data.run import Run as Run
from idealrank.errors import BackendError as BackendError
from idealrank.errors import FileFormatError as FileFormatError
from idealrank.errors import IdealrankError as IdealrankError
from idealrank.errors import IdealrankWarning as IdealrankWarning
from idealrank.errors import IncompatibleError as IncompatibleError
from idealrank.errors import InputError as InputError
from idealrank.errors import MissingExtraError as MissingExtraError
from idealrank.errors import NotStoredError as NotStoredError
from idealrank.errors import OptionError as OptionError
from idealrank.evaluation.coverage import Coverage as Coverage
from idealrank.evaluation.coverage import MeasureCoverage as MeasureCoverage
from idealrank.evaluation.evaluate import Evaluation as Evaluation
from idealrank.evaluation.overlap import Overlap as Overlap
from idealrank.evaluation.overlap import OverlapMatrix as OverlapMatrix
from idealrank.integrations import log_to_mlflow as log_to_mlflow
from idealrank.integrations import log_to_wandb as log_to_wandb
from idealrank.integrations import metric_names as metric_names
from idealrank.conversion.files import Conversion as Conversion
from idealrank.io.formats.preferences import read_assessors as read_assessors
from idealrank.io.formats.preferences import read_preferences as read_preferences
from idealrank.io.query_files import read_categories as read_categories
from idealrank.io.query_files import read_clusters as read_clusters
from idealrank.io.query_files import read_traffic as read_traffic
from idealrank.live.judges.judge_runs import JudgeRun as JudgeRun
from idealrank.live.judges.judge_runs import judge as judge
from idealrank.live.search_runs import SearchRun as SearchRun
from idealrank.live.search_runs import SearchResults as SearchResults
from idealrank.live.search_runs import search as search
from idealrank.measures import MEASURES as MEASURES
from idealrank.measures import PAIR_MEASURES as PAIR_MEASURES
from idealrank.measures.measure import Measure as Measure
from idealrank.measures.measure import PerQuery as PerQuery
from idealrank.measures.pairwise_loss import PairwiseLoss as PairwiseLoss
from idealrank.measures.pairwise_loss import pairwise_loss as pairwise_loss
from idealrank.measures.parse import parse_measure as parse_measure
from idealrank.measures.user import measure as measure
from idealrank.store import Store as Store
from idealrank.version import __version__ as __version__

# isort: off
# The list of measures: family by family, which is module by module, in the order of all tables.
# Each line ends with the measure's name in texts; `idealrank.measures` reads the lines, and takes
# those of modules `pairs*` for measures of two runs.

# gains with a discount, and their ideal
from idealrank.measures.dcg import NDCG as NDCG  # nDCG
from idealrank.measures.dcg import MeanNDCG as MeanNDCG  # MeanNDCG
from idealrank.measures.dcg import DCG as DCG  # DCG
from idealrank.measures.dcg import IdealDCG as IdealDCG  # iDCG

# relevant or not, at a fixed rank or over the whole list
from idealrank.measures.binary import AP as AP  # AP
from idealrank.measures.binary import RR as RR  # RR
from idealrank.measures.binary import P as P  # P
from idealrank.measures.binary import R as R  # R
from idealrank.measures.binary import F as F  # F

# users who stop by chance, rank by rank
from idealrank.measures.cascade import ERR as ERR  # ERR
from idealrank.measures.cascade import RBP as RBP  # RBP

# precision elsewhere than at a fixed rank
from idealrank.measures.precision import Rprec as Rprec  # Rprec
from idealrank.measures.precision import Success as Success  # Success
from idealrank.measures.precision import RelativeP as RelativeP  # RelP
from idealrank.measures.precision import GMAP as GMAP  # GMAP
from idealrank.measures.precision import IPrec as IPrec  # IPrec
from idealrank.measures.precision import ElevenPointAP as ElevenPointAP  # 11ptAP

# the returned documents without their order
from idealrank.measures.sets import SetP as SetP  # SetP
from idealrank.measures.sets import SetF as SetF  # SetF
from idealrank.measures.sets import SetAP as SetAP  # SetAP

# preferences between two documents
from idealrank.measures.preference import NumPrefsPoss as NumPrefsPoss  # prefs_num_prefs_poss
from idealrank.measures.preference import NumPrefsFul as NumPrefsFul  # prefs_num_prefs_ful
from idealrank.measures.preference import PrefsSimp as PrefsSimp  # prefs_simp
from idealrank.measures.preference import PrefsPair as PrefsPair  # prefs_pair
from idealrank.measures.preference import PrefsAvgJG as PrefsAvgJG  # prefs_avgjg
from idealrank.measures.preference import PrefsAvgJGRnonrel as PrefsAvgJGRnonrel  # prefs_avgjg_Rnonrel

# users of the C/W/L framework
from idealrank.measures.cwl import INST as INST  # INST
from idealrank.measures.cwl import INSQ as INSQ  # INSQ
from idealrank.measures.cwl import BPM as BPM  # BPM
from idealrank.measures.cwl import SDCG as SDCG  # SDCG
from idealrank.measures.cwl import TBG as TBG  # TBG
from idealrank.measures.cwl import GP as GP  # GP

# nearly ERR, users who stop when satisfied
from idealrank.measures.nerr import NERR8 as NERR8  # NERR8
from idealrank.measures.nerr import NERR9 as NERR9  # NERR9
from idealrank.measures.nerr import NERR10 as NERR10  # NERR10
from idealrank.measures.nerr import NERR11 as NERR11  # NERR11

# means over assessors
from idealrank.measures.groups import APAvgJG as APAvgJG  # AP_avgjg
from idealrank.measures.groups import PAvgJG as PAvgJG  # P_avgjg
from idealrank.measures.groups import RprecAvgJG as RprecAvgJG  # Rprec_avgjg

# pairs in the right order
from idealrank.measures.order import AUC as AUC  # AUC
from idealrank.measures.order import Accuracy as Accuracy  # Accuracy
from idealrank.measures.order import OPA as OPA  # OPA
from idealrank.measures.order import GradeTauAP as GradeTauAP  # GradeTauAP
from idealrank.measures.order import GradeWeightedTau as GradeWeightedTau  # GradeWTau

# correlation with the grades, over whole lists
from idealrank.measures.tau_rho import GradeTau as GradeTau  # GradeTau
from idealrank.measures.tau_rho import GradeRho as GradeRho  # GradeRho

# a whole order between its worst and its best
from idealrank.measures.rank_dcg import RankDCG as RankDCG  # RankDCG

# measures of learning to rank and of labels
from idealrank.measures.labels import ARP as ARP  # ARP
from idealrank.measures.labels import PWA as PWA  # PWA
from idealrank.measures.labels import LRAP as LRAP  # LRAP
from idealrank.measures.labels import CoverageError as CoverageError  # CoverageError
from idealrank.measures.labels import RankingLoss as RankingLoss  # RankingLoss
from idealrank.measures.labels import Compat as Compat  # Compat

# blended ratios of NTCIR
from idealrank.measures.ntcir import QMeasure as QMeasure  # Q
from idealrank.measures.ntcir import OMeasure as OMeasure  # O
from idealrank.measures.ntcir import PPlus as PPlus  # P+
from idealrank.measures.ntcir import NCU as NCU  # NCU
from idealrank.measures.ntcir import NERR as NERR  # nERR

# the effort of finding everything
from idealrank.measures.total_recall import LastRel as LastRel  # LastRel
from idealrank.measures.total_recall import WSS as WSS  # WSS
from idealrank.measures.total_recall import RecallArea as RecallArea  # RecallArea

# judged documents alone
from idealrank.measures.bpref import Bpref as Bpref  # Bpref
from idealrank.measures.bpref import GMBpref as GMBpref  # GMBpref
from idealrank.measures.bpref import InfAP as InfAP  # infAP

# gain measures of trec_eval
from idealrank.measures.graded import G as G  # G
from idealrank.measures.graded import BinG as BinG  # binG
from idealrank.measures.graded import RNDCG as RNDCG  # RnDCG
from idealrank.measures.graded import NDCGRel as NDCGRel  # nDCG_rel

# log odds
from idealrank.measures.yaap import YAAP as YAAP  # YAAP

# the worth of a set, by its contingency table
from idealrank.measures.utility import Utility as Utility  # Utility

# shares of judged and unjudged documents
from idealrank.measures.judgedness import JudgedShare as JudgedShare  # Judged
from idealrank.measures.judgedness import Unjudged as Unjudged  # Unjudged

# counts of documents and queries
from idealrank.measures.counts import NumQ as NumQ  # NumQ
from idealrank.measures.counts import NumRet as NumRet  # NumRet
from idealrank.measures.counts import NumRel as NumRel  # NumRel
from idealrank.measures.counts import NumRelRet as NumRelRet  # NumRelRet
from idealrank.measures.counts import NumNonrelJudgedRet as NumNonrelJudgedRet  # NumNonrelJudgedRet

# texts
from idealrank.measures.relstring import RelString as RelString  # RelString

# two runs, which `idealrank.overlap` compares
from idealrank.measures.pairs_rbo import RBO as RBO  # RBO
from idealrank.measures.pairs import OverlapAtK as OverlapAtK  # overlap
from idealrank.measures.pairs import Jaccard as Jaccard  # Jaccard
from idealrank.measures.pairs import SameTop as SameTop  # Same
from idealrank.measures.pairs_tau import KendallTau as KendallTau  # tau
from idealrank.measures.pairs_tau import TauAP as TauAP  # tauAP
from idealrank.measures.pairs_tau import WeightedTau as WeightedTau  # wtau
