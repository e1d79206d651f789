select distinct
    p.run_id,
    c.experiment,
    c.operation,
    p.stage,
    p.scheme,
    options_of(c.dimensions) as options,
    c.size,
    p.variant,
    p.program,
    n.operation as counted,
    n.level,
    n.n
from case_program as p
join case_ as c on c.key = p.case_key
join program_count as n on n.program = p.program
