create view costs as
select
    r.*,
    cardinality(r.modulus_bits) - r.special_primes - 1 as top_level
from results as r
where r.level is not null and r.metric = 'time' and r.phase = 'evaluate';

comment on view costs is
    'Times of single operations at a level of the modulus chain: a row per run, case, level and residency. A median '
    'is the time of one execution; operands have level + 1 data primes, fresh ones top_level + 1';
