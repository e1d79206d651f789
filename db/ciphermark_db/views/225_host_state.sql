create view host_state as
select
    t.run_id,
    count(*)::integer as timed_trials,
    count(*) filter (where t.facts ? 'anchor_s')::integer as watched_trials,
    coalesce(sum((t.facts ->> 'timed_samples')::float8), 0)::bigint as timed_samples,
    sum((t.facts ->> 'quiet_samples')::float8) / nullif(sum((t.facts ->> 'timed_samples')::float8), 0) as quiet_share,
    count(*) filter (where t.facts ?| array['is_short_of_samples', 'is_short_of_quiet'])::integer as short_trials,
    coalesce(sum((t.facts ->> 'disturbed_phases')::float8), 0)::integer as disturbed_phases,
    median_of(array_agg((t.facts ->> 'anchor_s')::float8 order by (t.facts ->> 'anchor_s')::float8) filter (
        where t.facts ? 'anchor_s'
    )) as anchor_s,
    max((t.facts ->> 'anchor_spread')::float8) as anchor_spread,
    sum((t.facts ->> 'anchor_cost_s')::float8)
    / nullif(sum((t.facts ->> 'sampling_s')::float8) filter (where t.facts ? 'anchor_s'), 0) as anchor_cost,
    sum((t.facts ->> 'run_delay_s')::float8)
    / nullif(sum(t.duration_s) filter (where t.facts ? 'run_delay_s'), 0) as run_delay_share,
    sum((t.facts ->> 'steal_s')::float8) / nullif(sum(t.duration_s) filter (where t.facts ? 'steal_s'), 0) as steal_share,
    exp(
        sum(ln((t.facts ->> 'slow_down')::float8) * (t.facts ->> 'timed_samples')::float8)
        / nullif(sum((t.facts ->> 'timed_samples')::float8) filter (where t.facts ? 'slow_down'), 0)
    ) as slow_down,
    -- Trials from before the fact anchor_gain were corrected by 1, and those from before slow_down not at all. One
    -- whose samples were all disturbed tells no slow_down either, and has no quiet sample to know it by.
    array_agg(
        distinct coalesce(
            (t.facts ->> 'anchor_gain')::float8,
            case when t.facts ? 'slow_down' then 1 when (t.facts ->> 'quiet_samples')::float8 > 0 then 0 end
        )
    ) filter (
        where t.facts ? 'anchor_s'
            and (
                t.facts ?| array['anchor_gain', 'slow_down'] or (t.facts ->> 'quiet_samples')::float8 > 0
            )
    ) as anchor_gains
from trial as t
where t.status = 'ok' and exists (select from series as s where s.trial_id = t.id and s.metric = 'time')
group by t.run_id;

comment on view host_state is
    'What hosts were like while samples were taken: a row per run, over its trials that ended ok and timed something';
