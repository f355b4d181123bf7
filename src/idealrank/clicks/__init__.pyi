# The one list of public names: type checkers read it, and `_lazy.public_names` loads a name when it is first asked for.

from idealrank.clicks.cascade_models import DBN as DBN
from idealrank.clicks.cascade_models import DCM as DCM
from idealrank.clicks.cascade_models import SDBN as SDBN
from idealrank.clicks.cascade_models import Cascade as Cascade
from idealrank.clicks.cascade_models import FittedCascade as FittedCascade
from idealrank.clicks.click_grades import ClickGrades as ClickGrades
from idealrank.clicks.click_grades import grades as grades
from idealrank.clicks.click_grades import grades_of_actions as grades_of_actions
from idealrank.clicks.click_grades import position_bias as position_bias
from idealrank.clicks.examination_models import PBM as PBM
from idealrank.clicks.examination_models import UBM as UBM
from idealrank.clicks.examination_models import FittedPBM as FittedPBM
from idealrank.clicks.examination_models import FittedUBM as FittedUBM
from idealrank.clicks.fitted_model import FittedModel as FittedModel
from idealrank.clicks.log_rows import LogCheck as LogCheck
from idealrank.clicks.log_rows import LogProblem as LogProblem
from idealrank.clicks.log_rows import LogRows as LogRows
from idealrank.clicks.logged_rewards import PolicyDifference as PolicyDifference
from idealrank.clicks.logged_rewards import PolicyValue as PolicyValue
from idealrank.clicks.logged_rewards import ips as ips
from idealrank.clicks.logged_rewards import ips_difference as ips_difference
from idealrank.clicks.propensity_report import Propensities as Propensities
from idealrank.clicks.propensity_report import propensities as propensities
from idealrank.clicks.sessions import Sessions as Sessions
from idealrank.clicks.simulated_logs import simulate as simulate
