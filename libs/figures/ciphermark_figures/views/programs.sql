-- Equal or not is asked of several variants: what one alone executed has nothing to be equal to.
select
    p.run_id,
    c.experiment,
    c.operation,
    p.stage,
    p.scheme,
    options_of(c.dimensions) as options,
    c.size,
    c.threads,
    p.variant,
    p.nodes,
    p.depth,
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
