create view host_state as
select
    t.run_id,
    count(*)::integer as trials,
    count(*) filter (where t.facts ? 'anchor_s')::integer as watched_trials,
    coalesce(sum((t.facts ->> 'timed_samples')::float8), 0)::bigint as samples,
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
    ) as slow_down
from trial as t
where t.status = 'ok' and exists (select from series as s where s.trial_id = t.id and s.metric = 'time')
group by t.run_id;

comment on view host_state is
    'What hosts were like while samples were taken: a row per run, over its trials that ended ok and timed something';
comment on column host_state.trials is 'Trials that timed something';
comment on column host_state.watched_trials is 'Those of them beside whose samples the anchor was executed';
comment on column host_state.samples is 'Timed samples of the watched trials, warm-ups excepted';
comment on column host_state.quiet_share is
    'Share of these samples that were taken while the host was quiet; the times of others are corrected';
comment on column host_state.short_trials is
    'Trials that ended at the limit with fewer samples that count than were asked for';
comment on column host_state.disturbed_phases is
    'Phases of trials in whose every sample others had the core for most of it: their figures are made of these, as they are';
comment on column host_state.anchor_s is 'Time of the anchor in the quiet state: the median of trials';
comment on column host_state.anchor_spread is
    'By how much the slowest tenth of a trial''s readings lie above the quiet level, at least; the largest of all trials';
comment on column host_state.anchor_cost is 'What the anchor took, as a share of the time of samples';
comment on column host_state.run_delay_share is
    'Share of the time of trials for which a worker was ready and other processes had its core; NULL where the kernel tells none';
comment on column host_state.slow_down is
    'How many times as long as on a quiet host the samples that count took: the mean of trials'' medians, weighted by '
    'their samples; NULL of trials from before times were corrected';
