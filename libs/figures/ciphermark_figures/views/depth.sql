select *, 'depth' as experiment
from depth
