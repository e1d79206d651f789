-- Readers compare at a level of either table.
alter table case_info add column security_compared_2024 integer;

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

-- Columns and stored words by the field's terms. Keys of cases stay: ciphermark_core.case_keys makes them of the first
-- words.
alter table case_info rename column division to tuning;
alter table case_info rename column size to vector_length;
alter table case_facts rename column is_composed to is_composite;
alter table trial rename column wrong_slots to incorrect_slots;

create function word(first text, words jsonb) returns text
language sql immutable
return coalesce(words ->> first, first);

create table words as
select
    '{"cap": "max_repetitions", "batch": "inputs_per_pass"}'::jsonb as dimensions,
    '{"equal": "matched", "best": "recommended"}'::jsonb as tunings,
    '{"same": "constant"}'::jsonb as patterns,
    '{"wrong": "incorrect", "exhausted": "budget_exhausted", "timed_out": "timeout"}'::jsonb as statuses,
    '{"operation": "evaluate", "keys": "keygen"}'::jsonb as stages,
    '{
        "samples": "min_samples", "precision": "max_ci_half_width", "most_samples": "max_samples",
        "most_time_s": "max_time_s"
    }'::jsonb as budgets,
    '{
        "is_composed": "is_composite", "loops_operation": "loops_evaluate",
        "half_width_operation": "half_width_evaluate"
    }'::jsonb as facts;

alter table case_info drop constraint case_info_status_check;

update case_info
set
    status = word(status, w.statuses),
    tuning = word(tuning, w.tunings),
    data_pattern = word(data_pattern, w.patterns),
    dimensions = renamed(case_info.dimensions, w.dimensions)
from words as w;

alter table case_info
add constraint case_info_status_check check (status in (
    'ok', 'incorrect', 'unsupported', 'budget_exhausted', 'crashed', 'out_of_memory', 'timeout', 'cancelled'
));

update case_info
set security_compared_2024 = case
    when tuning = 'recommended' and security_table = '2024' then security_bits
    else security_2024
end;

update case_request
set request = renamed(request, '{"size": "vector_length"}') || jsonb_build_object(
    'data_pattern', word(request ->> 'data_pattern', w.patterns),
    'dimensions', renamed(request -> 'dimensions', w.dimensions),
    'parameters',
    renamed(request -> 'parameters', '{"division": "tuning"}')
    || jsonb_build_object('tuning', word(request -> 'parameters' ->> 'division', w.tunings))
)
from words as w;

update trial
set
    status = word(status, w.statuses),
    budget = renamed(budget, w.budgets),
    facts = renamed(trial.facts, w.facts)
from words as w;

update series set stage = word(stage, w.stages) from words as w where w.stages ? stage;
update series set step = 'keygen' where stage = 'prepare' and step = 'keys';
update result set stage = word(stage, w.stages) from words as w where w.stages ? stage;
update result set step = 'keygen' where stage = 'prepare' and step = 'keys';
update ratio set stage = word(stage, w.stages) from words as w where w.stages ? stage;
update ratio set step = 'keygen' where stage = 'prepare' and step = 'keys';
update trial_program set stage = word(stage, w.stages) from words as w where w.stages ? stage;
update trial_layer set stage = word(stage, w.stages) from words as w where w.stages ? stage;

insert into metric
select 'is_at_max_repetitions', unit, direction, threshold, threshold_kind, label, sentence, adds_up
from metric
where name = 'is_capped';

update series set metric = 'is_at_max_repetitions' where metric = 'is_capped';
update result set metric = 'is_at_max_repetitions' where metric = 'is_capped';
delete from metric where name = 'is_capped';
update dimension set name = word(name, w.dimensions) from words as w where w.dimensions ? name;

alter table ratio drop constraint ratio_kind_check;

update ratio set kind = 'across_security_levels' where kind = 'any_security';

alter table ratio
add constraint ratio_kind_check check (
    kind in ('equal_security', 'equal_security_2024', 'across_security_levels', 'hexl')
);

comment on table ratio is
    'Times of cases by those of another case of their comparison group: of the fastest of one security level by the 2018 table '
    '(equal_security) or the 2024 table (equal_security_2024), or of all levels (across_security_levels), or of the same '
    'library with HEXL (hexl); kinds of encryption apart where they bear on times';
comment on column series.stage is
    'keygen, encrypt, evaluate, decrypt or the object that a size belongs to; of a workload one of its stages';
comment on column published.repetitions is 'Consecutive operations of our case; NULL where it does not repeat';
comment on column experiment.is_until_exhausted is
    'Whether its trials go on until no level or noise budget is left: then their samples count with status '
    'budget_exhausted, too';

drop table words;
drop function renamed(jsonb, jsonb), word(text, jsonb);
