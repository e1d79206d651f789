select distinct
    p.run_id,
    c.experiment,
    c.operation,
    p.case_key,
    p.comparison_key,
    c.ring_dimension,
    c.modulus_bits,
    c.plain_modulus,
    2::double precision ^ c.scale_bits as scale,
    c.security_bits,
    c.division,
    c.ring_dimension_is_minimum,
    c.dimensions,
    c.data_pattern,
    c.threads,
    p.stage,
    p.scheme,
    options_of(c.dimensions) as options,
    c.size,
    p.variant,
    p.program,
    n.operation as counted,
    n.level,
    n.occurrences as n
from case_program as p
join case_ as c on c.key = p.case_key
join program_count as n on n.program = p.program
