-- What SQL has to know of an experiment to read what it recorded.

create table experiment (
    name text primary key,
    determines text references metric,
    is_until_exhausted boolean not null
);

comment on table experiment is
    'Experiments that are no family of workloads. Migrating fills it from the registry of this program';
comment on column experiment.name is 'Name, as in case_';
comment on column experiment.determines is
    'The metric whose value each of its trials is there to find; NULL where there is none such';
comment on column experiment.is_until_exhausted is
    'Whether its trials go on until no level or noise budget is left: then their samples count with status exhausted, too';

insert into metric (name, unit, floor, floor_kind, label, sentence, adds_up)
values ('depth', 'operations', 1, 'factor', 'depth', '', true)
on conflict (name) do nothing;

insert into experiment (name, determines, is_until_exhausted)
values ('depth', 'depth', true), ('noise', null, true);
