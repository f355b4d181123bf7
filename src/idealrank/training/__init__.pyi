# The one list of public names: type checkers read it, and `_lazy.public_names` loads a name when it is first asked for.

from idealrank.training.checks import TrainingProblem as TrainingProblem
from idealrank.training.checks import check_training as check_training
from idealrank.training.checks import refuse_problems as refuse_problems
from idealrank.training.objectives import LambdaLists as LambdaLists
from idealrank.training.objectives import LambdaObjective as LambdaObjective
