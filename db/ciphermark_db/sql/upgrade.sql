-- From the last schema before 0001_baseline.sql (version 27 of its own counting) to that one, in place.

-- name: is_first_edition
select exists (
    select from schema_migration
    where version = 27 and checksum = 'a3ab3f24d50e5918a8348b89dde866547270aa91181722d2dc3d9f4ba1d290fc'
);

-- name: set_aside
-- The baseline requires an empty schema.
do $$
declare
    item record;
begin
    create schema first_edition;
    for item in
        select relname
        from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'schema_migration'
    loop
        execute format('alter table public.%I set schema first_edition', item.relname);
    end loop;
    execute (
        select 'drop function ' || string_agg(oid::regprocedure::text, ', ') || ' cascade'
        from pg_proc
        where pronamespace = 'public'::regnamespace
    );
    delete from schema_migration;
end
$$;

-- name: carry_over
insert into metric select * from first_edition.metric;
insert into dimension select * from first_edition.dimension;
insert into experiment select * from first_edition.experiment;
insert into host select * from first_edition.host;
insert into run select * from first_edition.run;
insert into program select * from first_edition.program;
insert into refusal select * from first_edition.refusal;
insert into job select * from first_edition.job;
insert into offer select * from first_edition.offer;
insert into build select id, facts from first_edition.build;
insert into parameter_set select id, moduli, special_moduli from first_edition.parameter_set;

insert into case_request
select
    key,
    jsonb_build_object(
        'variant', variant,
        'experiment', experiment,
        'operation', operation,
        'parameters', jsonb_build_object(
            'scheme', scheme,
            'ring_dimension', ring_dimension,
            'modulus_bits', to_jsonb(modulus_bits),
            'plain_modulus', plain_modulus,
            'scale_bits', scale_bits,
            'security', security_bits,
            'depth', depth,
            'ring_dimension_is_minimum', ring_dimension_is_minimum,
            'division', division
        ),
        'size', size,
        'data_pattern', data_pattern,
        'threads', threads,
        'dimensions', dimensions
    )
from first_edition.case_;

insert into case_info (
    run_id, case_key, comparison_key, build_id, parameter_set_id, status, variant, library, library_version, hexl,
    is_debug, is_reference, experiment, operation, scheme, ring_dimension, requested_ring_dimension, modulus_bits,
    requested_modulus_bits, plain_modulus, scale, ring_dimension_is_minimum, security_bits, chain_depth, division,
    dimensions, data_set, data_pattern, size, threads, slots, ciphertexts, log_q, log_qp, security_2018, security_2024,
    security_compared, key_switching, digits, special_primes, scaling, secret_distribution, encryption
)
select
    t.run_id, t.case_key, c.comparison_key, t.build_id, t.parameter_set_id, t.status, c.variant, b.library, b.version,
    b.hexl, b.is_debug, b.is_reference, c.experiment, c.operation, c.scheme,
    coalesce(p.ring_dimension, c.ring_dimension), c.ring_dimension, coalesce(p.modulus_bits, c.modulus_bits),
    c.modulus_bits, coalesce(p.plain_modulus, c.plain_modulus),
    coalesce(p.scale, 2::double precision ^ c.scale_bits), c.ring_dimension_is_minimum, c.security_bits, c.depth,
    c.division, c.dimensions, c.dimensions ->> 'data_set', c.data_pattern, c.size, c.threads,
    coalesce(p.slots, c.slots), (c.size + coalesce(p.slots, c.slots) - 1) / coalesce(p.slots, c.slots), p.log_q,
    p.log_qp, p.security_2018, p.security_2024,
    case c.division when 'best' then c.security_bits else p.security_2018 end, p.key_switching, p.digits,
    cardinality(p.special_moduli), p.scaling, p.secret_distribution, p.encryption
from (
    select run_id, case_key, build_id, parameter_set_id, status, min(sequence) as first
    from first_edition.trial
    group by run_id, case_key, build_id, parameter_set_id, status
) as t
join first_edition.case_ as c on c.key = t.case_key
left join first_edition.build as b on b.id = t.build_id
left join first_edition.parameter_set as p on p.id = t.parameter_set_id
order by t.first;

insert into trial (
    id, run_id, case_info_id, process, seed, budget, status, error, max_abs_error, wrong_slots, tolerance,
    precision_bits, started_at, duration_s, facts, sequence
) overriding system value
select
    t.id, t.run_id, i.case_info_id, t.process, t.seed, t.budget, t.status, t.error, t.max_abs_error, t.wrong_slots,
    t.tolerance, t.precision_bits, t.started_at, t.duration_s, t.facts, t.sequence
from first_edition.trial as t
join case_info as i
    on i.run_id = t.run_id
    and i.case_key = t.case_key
    and i.status = t.status
    and i.build_id is not distinct from t.build_id
    and i.parameter_set_id is not distinct from t.parameter_set_id;

select setval(pg_get_serial_sequence('trial', 'sequence'), coalesce(max(sequence), 1)) from trial;

insert into trial_program select * from first_edition.trial_program;
insert into trial_layer select * from first_edition.trial_layer;

-- Large tables move unchanged.
drop table sample;
alter table first_edition.sample set schema public;
alter table first_edition.series drop constraint series_metric_fkey;
drop table series;
alter table first_edition.series set schema public;
alter table series add constraint series_metric_fkey foreign key (metric) references metric;

drop schema first_edition cascade;
