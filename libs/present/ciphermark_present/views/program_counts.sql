select distinct
    p.*,
    options_of(p.dimensions) as options,
    n.operation as counted,
    n.level,
    n.occurrences as n
from case_program as p
join program_count as n on n.program = p.program
