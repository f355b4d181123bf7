# The one list of public names: type checkers read it, and `_lazy.public_names` loads a name when it
# is first asked for.

from idealrank.training.data_problems import TrainingProblem as TrainingProblem
from idealrank.training.data_problems import check_training as check_training
from idealrank.training.data_problems import refuse_problems as refuse_problems
from idealrank.training.model_selection import BestOf as BestOf
from idealrank.training.model_selection import NestedResult as NestedResult
from idealrank.training.model_selection import best_of as best_of
from idealrank.training.model_selection import nested_cv as nested_cv
from idealrank.training.model_selection import query_folds as query_folds
from idealrank.training.objectives import LambdaLists as LambdaLists
from idealrank.training.objectives import LambdaObjective as LambdaObjective
from idealrank.training.position_debiasing import UnbiasedLists as UnbiasedLists
from idealrank.training.position_debiasing import UnbiasedObjective as UnbiasedObjective
