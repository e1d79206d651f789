-- Who chooses how keys are switched, and what parameter sets did not tell of themselves.

alter table case_ add column division text not null default 'equal' check (division in ('equal', 'best'));

comment on column case_.division is
    'equal: key switching alike in all libraries, one digit per prime where they can; best: as each library would set it';

alter table parameter_set
add column key_switching text check (key_switching in ('hybrid', 'bv')),
add column digits integer,
add column scaling text check (scaling in ('exact', 'fixed', 'managed')),
add column secret_distribution text,
add column encryption text,
add constraint parameter_set_digits check ((digits is null) = (key_switching is null));

comment on column parameter_set.key_switching is
    'hybrid: with special primes; bv: without them; NULL where keys cannot be switched';
comment on column parameter_set.digits is
    'Digits that a ciphertext of the top level is decomposed into where its key is switched';
comment on column parameter_set.scaling is
    'exact: the library keeps the exact scale (ckks) or factor (bgv) of every ciphertext; fixed: it takes all primes for '
    'the scale itself; managed: it chooses levels by itself as well; NULL: libraries of several kinds shared the set';
comment on column parameter_set.secret_distribution is
    'What secret keys are drawn from; NULL: libraries of several kinds shared the set';
comment on column parameter_set.encryption is 'What encrypts: the public key, the secret key';

-- Until now every library took one digit per prime where there was a special prime, and encrypted with the public key.
update parameter_set as p
set
    key_switching = case when cardinality(p.special_moduli) > 0 then 'hybrid' end,
    digits = case when cardinality(p.special_moduli) > 0 then cardinality(p.moduli) end,
    scaling = case when cardinality(told.scalings) <= 1 then coalesce(told.scalings[1], 'exact') end,
    secret_distribution = case
        when cardinality(told.secrets) <= 1 then coalesce(told.secrets[1], 'uniform ternary')
    end,
    encryption = 'public key'
from (
    select
        s.id,
        array_agg(
            distinct case
                when b.library = 'HElib' then 'managed'
                when b.library = 'OpenFHE' and s.scheme <> 'bfv' then 'fixed'
                else 'exact'
            end
        ) filter (where b.id is not null) as scalings,
        array_agg(
            distinct case when b.library = 'HElib' then 'ternary, half of it zeros' else 'uniform ternary' end
        ) filter (where b.id is not null) as secrets
    from parameter_set as s
    left join trial as t on t.parameter_set_id = s.id
    left join build as b on b.id = t.build_id
    group by s.id
) as told
where told.id = p.id;
