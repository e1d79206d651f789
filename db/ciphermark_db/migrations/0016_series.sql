-- The second edition: metrics and dimensions are rows, samples are narrow rows of a series, what one experiment or
-- family alone varies is one column, and programs are kept. Views are files of their own from here on: those that
-- earlier migrations made go.

drop view published_match;
drop view ratio_any_security;
drop view ratio;
drop function ratios(boolean);
drop view speedup;
drop view results;
drop view depth;
drop view noise;
drop view security;
drop view trial_group;

create table view_file (
    position integer primary key,
    name text not null unique,
    kind text not null check (kind in ('view', 'function')),
    checksum text not null
);

comment on table view_file is 'Internal: the views and functions that the files in views/ made, in their order';

create table metric (
    name text primary key,
    unit text not null,
    direction text check (direction in ('lower', 'higher')),
    floor double precision not null,
    floor_kind text not null check (floor_kind in ('factor', 'difference')),
    label text not null,
    sentence text not null,
    adds_up boolean not null
);

comment on table metric is
    'What is recorded. Migrating fills it from the registry of this program; recording adds what a workload brings';
comment on column metric.name is 'Name, as in series';
comment on column metric.unit is 'Unit of its values: s, bytes, bits, operations, flag, share, ratio, ...';
comment on column metric.direction is 'Which figures are better, lower or higher; NULL where neither is';
comment on column metric.floor is
    'Figures within this factor of each other, or apart by this much (see floor_kind), show no difference';
comment on column metric.floor_kind is 'factor; or difference, in units of the metric';
comment on column metric.label is 'Heading of a column';
comment on column metric.sentence is 'What it means';
comment on column metric.adds_up is
    'Whether the value of a whole is the sum of its parts; where not, as for a peak, it is the largest of them';

create table dimension (
    name text primary key,
    kind text not null,
    sentence text not null
);

comment on table dimension is
    'Keys of case_.dimensions. Migrating fills it from the registry of this program; recording adds what a workload brings';
comment on column dimension.name is 'Key';
comment on column dimension.kind is 'Type of its values: str, int, float or bool';
comment on column dimension.sentence is 'What it means';

alter table case_ add column dimensions jsonb not null default '{}';
alter table case_ rename column is_least to ring_dimension_is_minimum;

update case_
set dimensions = jsonb_strip_nulls(
    jsonb_build_object('cap', cap, 'repetitions', repetitions, 'data_set', data_set)
)
where coalesce(cap, repetitions) is not null or data_set is not null;

alter table case_ drop column cap, drop column repetitions, drop column data_set;

comment on column case_.dimensions is
    'What one experiment or family alone is varied by: keys are those of the table dimension; what is unset is absent';

create table series (
    id bigint generated always as identity primary key,
    trial_id text not null,
    stage text not null,
    party text,
    step text,
    metric text not null references metric
);

comment on table series is 'Samples of one metric, taken at one place of a trial';
comment on column series.stage is
    'keys, encrypt, operation, decrypt or the object that a size belongs to; of a workload one of its stages';
comment on column series.party is 'The party whose own sum or peak it is; otherwise NULL';
comment on column series.step is 'A part of the stage, of whichever party; otherwise NULL';

alter table sample rename to sample_of_phase;

insert into metric (name, unit, floor, floor_kind, label, sentence, adds_up)
select metric, min(unit), 1, 'factor', metric, '', true
from sample_of_phase
group by metric;

insert into series (trial_id, stage, party, step, metric)
select
    trial_id,
    split_part(phase, '.', 1),
    case when split_part(phase, '.', 2) in ('client', 'server') then split_part(phase, '.', 2) end,
    case when split_part(phase, '.', 2) not in ('', 'client', 'server') then split_part(phase, '.', 2) end,
    metric
from (select distinct trial_id, phase, metric from sample_of_phase) as found
order by trial_id, phase, metric;

-- Where a series is: the stage, and after a dot the step or the party.
create function phase_of(stage text, party text, step text) returns text
language sql immutable parallel safe
return stage || coalesce('.' || coalesce(step, party), '');

comment on function phase_of(text, text, text) is 'Where a series is, as one text: the stage, stage.step or stage.party';

create table sample (
    series_id bigint not null,
    value double precision not null,
    loops bigint not null,
    ordinal integer not null,
    repetitions integer,
    is_warmup boolean not null
);

comment on table sample is 'Every value that was recorded, of a series';
comment on column sample.value is 'In the unit of the metric, per execution';
comment on column sample.loops is 'Executions that it is the mean of';
comment on column sample.ordinal is 'Its number in the series; samples of two variants with one ordinal were taken in one turn';
comment on column sample.repetitions is 'Operations applied before it was taken; otherwise NULL';

insert into sample (series_id, value, loops, ordinal, repetitions, is_warmup)
select s.id, p.value, p.loops, p.ordinal, p.repetitions, p.is_warmup
from sample_of_phase as p
join series as s
    on s.trial_id = p.trial_id
    and s.metric = p.metric
    and phase_of(s.stage, s.party, s.step) = p.phase
order by s.id, p.is_warmup desc, p.ordinal;

drop table sample_of_phase;

create unique index series_of_trial on series (trial_id, stage, party, step, metric) nulls not distinct;
create index sample_series on sample (series_id);
analyze series, sample, case_;

create table program (
    digest text primary key,
    scheme text not null check (scheme in ('bfv', 'bgv', 'ckks')),
    depth integer not null,
    nodes integer not null,
    constants integer not null,
    live_ciphertexts integer not null,
    counts jsonb not null,
    content bytea not null
);

comment on table program is 'Programs that were measured: graphs of operations, once by the hash of their content';
comment on column program.digest is 'SHA-256 of content';
comment on column program.depth is 'Levels from its highest input down to its lowest value';
comment on column program.nodes is 'Number of operations';
comment on column program.constants is 'Number of plaintext constants';
comment on column program.live_ciphertexts is 'The most ciphertexts alive at once when its nodes execute in order';
comment on column program.counts is 'List of operation, level and n: what the view program_count shows';
comment on column program.content is 'The program as it was serialized; constants are named by digest alone';

create table trial_program (
    trial_id text not null references trial,
    stage text not null,
    program text not null references program,
    primary key (trial_id, stage)
);

create index trial_program_program on trial_program (program);

comment on table trial_program is 'Which program was executed in which stage of a trial';
