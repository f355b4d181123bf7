# The one list of public names: type checkers read it, and `_lazy.public_names` loads a name when it is first asked for.

from idealrank.judging.analytic import ChanceTest as ChanceTest
from idealrank.judging.analytic import chance_test as chance_test
from idealrank.judging.correction import CorrectedMean as CorrectedMean
from idealrank.judging.correction import correct as correct
from idealrank.judging.document_correction import CorrectedDocuments as CorrectedDocuments
from idealrank.judging.document_correction import correct_documents as correct_documents
from idealrank.judging.interrater import Agreement as Agreement
from idealrank.judging.interrater import agreement as agreement
from idealrank.judging.interrater import agreement_of_counts as agreement_of_counts
from idealrank.judging.label_table import LabelTable as LabelTable
from idealrank.judging.prevalence import CorrectedShare as CorrectedShare
from idealrank.judging.prevalence import corrected_share as corrected_share
from idealrank.judging.rater_tables import AgreementReport as AgreementReport
from idealrank.judging.rater_tables import ClusterAgreement as ClusterAgreement
from idealrank.judging.rater_tables import Coefficient as Coefficient
from idealrank.judging.rater_tables import GradeAgreement as GradeAgreement
from idealrank.judging.rater_tables import RaterAgreement as RaterAgreement
from idealrank.judging.rater_tables import agreement_by_cluster as agreement_by_cluster
from idealrank.judging.rater_tables import agreement_by_grade as agreement_by_grade
from idealrank.judging.rater_tables import agreement_by_rater as agreement_by_rater
from idealrank.judging.rater_tables import agreement_report as agreement_report
from idealrank.judging.value_bounds import Bounds as Bounds
from idealrank.judging.value_bounds import DifferenceBounds as DifferenceBounds
from idealrank.judging.value_bounds import bounds as bounds
from idealrank.judging.value_bounds import difference_bounds as difference_bounds
