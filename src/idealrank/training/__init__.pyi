# The one list of public names: type checkers read it, and `_lazy.public_names` loads a name when it is first asked for.

from idealrank.training.objectives import LambdaLists as LambdaLists
from idealrank.training.objectives import LambdaObjective as LambdaObjective
