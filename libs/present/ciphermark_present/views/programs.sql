-- Equal or not is asked of several variants: what one alone executed has nothing to be equal to.
select
    p.run_id,
    c.experiment,
    c.operation,
    c.ring_dimension,
    c.modulus_bits,
    c.plain_modulus,
    2::double precision ^ c.scale_bits as scale,
    c.security_bits,
    c.division,
    c.ring_dimension_is_minimum,
    c.dimensions,
    c.data_pattern,
    p.stage,
    p.scheme,
    options_of(c.dimensions) as options,
    c.size,
    c.threads,
    p.variant,
    p.nodes,
    p.program_depth,
    p.constants,
    p.live_ciphertexts,
    p.content_bytes,
    p.program,
    case when min(p.variant) over same_stage <> max(p.variant) over same_stage then p.is_equal_program end as is_equal_program,
    p.comparison_key,
    p.case_key
from case_program as p
join case_ as c on c.key = p.case_key
window same_stage as (partition by p.run_id, p.comparison_key, p.stage)
