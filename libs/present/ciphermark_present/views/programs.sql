-- Equal or not is asked of several variants: what one alone executed has nothing to be equal to.
select
    i.*,
    options_of(i.dimensions) as options
from (
    select p, min(p.variant) over same_stage <> max(p.variant) over same_stage as is_compared
    from case_program as p
    where p.run_id = %(run_id)s
    window same_stage as (partition by p.comparison_group, p.stage)
) as each
cross join lateral jsonb_populate_record(
    each.p, case when each.is_compared then '{}' else '{"is_equal_program": null}' end::jsonb
) as i
