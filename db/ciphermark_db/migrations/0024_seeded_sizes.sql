-- HElib's key-switching matrices are written with a seed in the place of their random half: their sizes stand beside those of
-- other libraries' seeded keys, under their names.
update series
set stage = stage || '_seeded'
from trial as t
join case_ as c on c.key = t.case_key
join build as b on b.id = t.build_id
where
    series.trial_id = t.id
    and b.library = 'HElib'
    and c.experiment = 'serialization'
    and series.stage in ('relinearization_keys', 'rotation_keys');
