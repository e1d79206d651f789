-- Readers compare at a level of either table.
alter table case_info add column security_compared_2024 integer;

update case_info
set security_compared_2024 = case when division = 'best' and security_table = '2024' then security_bits else security_2024 end;

alter table ratio
drop constraint ratio_kind_check,
add check (kind in ('equal_security', 'equal_security_2024', 'any_security', 'hexl'));

comment on table ratio is
    'Times of cases by those of another case of their comparison group: of the fastest of one security level by the 2018 table '
    '(equal_security) or the 2024 table (equal_security_2024), or of all levels (any_security), or of the same library with '
    'HEXL (hexl); kinds of encryption apart where they bear on times';

-- Jobs take their numbers from the sequence of runs: a list of both has the order in which they were recorded, and a job
-- without a run its place by its submission.
alter table job add column sequence bigint;

update job
set sequence = coalesce((select max(r.sequence) from run as r where r.started_at <= job.submitted_at), 0);

alter table job alter column sequence set not null;
alter table job alter column sequence set default nextval('run_sequence_seq');
drop index job_submitted;
create index job_sequence on job (sequence, id);

comment on column job.sequence is 'The order in which jobs were submitted, among the numbers of run.sequence';

-- The document with other names for some of its keys; the rest stays.
create function renamed(document jsonb, names jsonb) returns jsonb
language sql immutable
return (
    select coalesce(jsonb_object_agg(coalesce(names ->> entry.key, entry.key), entry.value), '{}')
    from jsonb_each(document) as entry
);

-- The host's state, significance, key switching and forms of plaintexts by the field's terms.
-- The host's state, significance, key switching and forms of plaintexts by the field's terms.
alter table metric rename column floor to threshold;
alter table metric rename column floor_kind to threshold_kind;
alter table metric rename constraint metric_floor_kind_check to metric_threshold_kind_check;
alter table published rename column figure to result;
alter table case_info rename column digits to decomposition_digits;
alter table case_info rename column comparison_key to comparison_group;
alter index case_info_comparison rename to case_info_comparison_group;
alter table sample rename column slow_down to slowdown;
alter table case_facts rename column anchor_s to reference_kernel_s;
alter table case_facts rename column anchor_spread to reference_kernel_spread;
alter table host_state rename column quiet_share to undisturbed_share;
alter table host_state rename column slow_down to slowdown;
alter table host_state rename column anchor_s to reference_kernel_s;
alter table host_state rename column anchor_spread to reference_kernel_spread;
alter table host_state rename column anchor_cost to reference_kernel_cost;
alter table host_state rename column anchor_gains to reference_kernel_gains;

update trial
set facts = renamed(
    facts,
    '{
        "anchor_kernel": "reference_kernel_version", "anchor_gain": "reference_kernel_gain",
        "anchor_s": "reference_kernel_s", "anchor_spread": "reference_kernel_spread",
        "anchor_readings": "reference_kernel_readings", "anchor_cost_s": "reference_kernel_cost_s",
        "quiet_samples": "undisturbed_samples", "is_short_of_quiet": "is_short_of_undisturbed",
        "slow_down": "slowdown"
    }'
);

update case_info
set operation = replace(operation, '_plain_prepared', '_plain_ntt')
where operation in ('add_plain_prepared', 'mul_plain_prepared');

update case_request
set request = request || jsonb_build_object('operation', replace(request ->> 'operation', '_plain_prepared', '_plain_ntt'))
where request ->> 'operation' in ('add_plain_prepared', 'mul_plain_prepared');

update program
set counts = replace(counts::text, '_plain_prepared"', '_plain_ntt"')::jsonb
where counts::text like '%\_plain\_prepared"%';

update trial_layer
set counts = replace(counts::text, '_plain_prepared"', '_plain_ntt"')::jsonb
where counts::text like '%\_plain\_prepared"%';

comment on column metric.direction is 'Which results are better, lower or higher; NULL where neither is';
comment on column metric.threshold is
    'Results within this factor of each other, or apart by this much (see threshold_kind), show no difference';
comment on table published is
    'Values from papers, which stand beside ours and are never ranked; those that a case of ours is about name it';
comment on column published.value is 'The value in that unit';
comment on column published.stated is 'The value as the source has it';
comment on column sample.is_disturbed is
    'Taken while others had the core for most of it, or, before samples were corrected, slowed it: it counts for no '
    'result, unless there is nothing else. False also of samples beside which nothing was watched';
comment on column sample.slowdown is
    'How many times as long as on an undisturbed host it took, by the reference kernel beside it and the run-queue '
    'delay: results are made of value / slowdown. 1 also of samples beside which nothing was watched, and of what is no '
    'time';

drop function renamed(jsonb, jsonb);
