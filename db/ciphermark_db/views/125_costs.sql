create view costs as
select *
from results
where level is not null and metric = 'time' and phase = 'evaluate';

comment on view costs is
    'Times of single operations at a level of the modulus chain: a row per run, case, level and residency. A median '
    'is the time of one execution; operands have level + 1 data primes, fresh ones top_level + 1';
