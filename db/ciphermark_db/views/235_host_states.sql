create view host_states as
select
    s.*,
    r.continues,
    r.started_at,
    array(
        select concat_ws(' ', i.variant, i.operation, i.scheme, i.ring_dimension, phase_of(x.stage, x.party, x.step))
        from public.result as x
        join case_info as i on i.case_info_id = x.case_info_id
        where i.run_id = s.run_id and x.metric = 'time' and x.undisturbed_share = 0 and x.slowdown is null
        order by 1
    ) as disturbed_results
from host_state as s
join run as r on r.id = s.run_id;

comment on view host_states is
    'The table host_state, with the results that rest on disturbed samples only: a row per run, and per part of a run '
    'that continued on another host';
