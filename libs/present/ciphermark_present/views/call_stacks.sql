select
    *,
    stage as phase,
    stage = 'evaluate' as is_evaluation
from stacks
