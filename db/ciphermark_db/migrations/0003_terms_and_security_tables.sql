-- Readers compare at a level of either table.
alter table case_info add column security_compared_2024 integer;

-- Single operations at a level of the chain, on operands in the cache or in memory.
alter table case_info add column level integer, add column residency text;

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

-- Shipped runs, which pages show where nothing else answers.
alter table run add column is_shipped boolean not null default false;

create table reference_run (
    id text primary key,
    added_at timestamptz not null default now()
);

comment on column run.is_shipped is 'Whether it is a run that Ciphermark ships; false once a user imports it';
comment on table reference_run is 'Shipped runs that were added to this database: a deleted one is not added again';

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

comment on column published.value is 'The value, in that unit';

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

drop table words;
drop function renamed(jsonb, jsonb), word(text, jsonb);

-- Probes that suites ask for.
alter table metric add column probe text;
alter table trial add column unmeasured jsonb;
alter table trial add column stacks jsonb;

comment on column metric.probe is 'Name by which suites ask for it; NULL for a metric of every run';
comment on column trial.unmeasured is 'The reason for each requested probe without values, by its name; NULL without one';
comment on column trial.stacks is
    'Sampled call stacks by stage: lines with frames, separated by semicolons, and a count; NULL without any';

-- What tables and columns mean, in the words of the documents.
comment on table metric is
    'Metrics of samples. Migrating fills the table from the program''s registry; recording adds those of workloads';
comment on column metric.unit is 'Unit of its values: s, bytes, bits, operations, flag, share, ratio, ...';
comment on column metric.direction is 'Whether lower or higher results are better; NULL if neither is';
comment on column metric.threshold is
    'Significance threshold: results within this factor or difference (see threshold_kind) count as equal';
comment on column metric.sentence is 'Meaning';
comment on column metric.adds_up is
    'Whether the value of a whole is the sum of its parts; otherwise, as for a peak, it is their maximum';
comment on table dimension is
    'Keys of dimensions. Migrating fills the table from the program''s registry; recording adds those of workloads';
comment on column dimension.sentence is 'Meaning';
comment on table experiment is
    'Experiments other than families of workloads. Migrating fills the table from the program''s registry';
comment on column experiment.determines is 'The metric that each of its trials determines; NULL without one';
comment on column experiment.is_until_exhausted is
    'Whether its trials continue until no level or noise budget is left: their samples then count with status '
    'budget_exhausted, too';
alter table published
    add column threads integer,
    add column level integer,
    add column security smallint,
    add column provenance text;
comment on column published.metric is 'time, energy, peak_memory, accuracy, mse or expansion';
comment on column published.unit is 'Unit of value: s, J, bytes, share or ratio';
comment on column published.threads is 'Threads of the measurement; NULL if the source does not state them';
comment on column published.level is
    'Level of the operands, as the level of a case of ours; NULL for operands as encrypted';
comment on column published.security is
    'Security in bits by the guidelines (2024), computed from N and log2(QP), 0 for less than 128; NULL where these '
    'are unknown. Only our cases of that security match';
comment on column published.provenance is
    'Origin, if the source does not print the value: recomputed from its published files, or checked by a run; NULL '
    'for a printed value';
comment on table published is
    'Values from papers, shown next to ours and never ranked; a value about a case of ours names the case';
comment on column published.id is 'Place in the file';
comment on column published.host is 'Machine of the measurement, as the source describes it';
comment on column published.scheme is 'BFV, BGV or CKKS, in lower case';
comment on column published.result is 'The measured quantity, in the words of the source';
comment on column published.stated is 'The value as the source states it';
comment on column published.note is 'Remark; NULL without one';
comment on column published.variant is 'Variant of ours that corresponds to it; NULL for all of them';
comment on column published.experiment is 'Experiment of our case; NULL without one';
comment on column published.operation is
    'Our operation or workload; alternatives are separated by |; NULL without one';
comment on column published.phase is 'Phase of our case; NULL without one';
comment on column published.ring_dimension is 'N of our case; NULL if the source does not state it';
comment on column published.repetitions is 'Consecutive operations of our case; NULL for a single one';
comment on column published.data_set is 'Real data of our case; NULL for generated vectors';
comment on column published.checksum is 'Checksum of the file that it was loaded from';
comment on table case_info is
    'Executed cases, whose trials are pooled: a row per run, case, build, parameter set and status';
comment on table case_facts is 'Summary of the facts of a case''s trials';
comment on table result is 'Statistics of the samples of a case at one place, by repetitions';
comment on table ratio is
    'Times divided by those of another case of the comparison group, which kind describes. Kinds of encryption are '
    'compared apart if times depend on them';
comment on table host_state is
    'State of the host while samples were taken: a row per run, over its trials that ended ok and timed something';
comment on column sample.is_disturbed is
    'Whether other processes had the core for most of the sample, or, before times were corrected, slowed it. Such a '
    'sample counts only if there is no other. False also without a reference kernel';
comment on column sample.slowdown is
    'Time relative to an undisturbed host, by the reference kernel and the run-queue delay: results are made of value '
    '/ slowdown. 1 also without a reference kernel, and for values that are no times';
comment on column series.stage is
    'keygen, encrypt, evaluate or decrypt; for a workload one of its stages; for a size the object';
