select *
from results
where metric = 'time' and phase = 'evaluate'
