export const TEXTS = {
  title: 'Home',
  lead: 'What happened on {domain} in the last 24 hours.',
  calls: 'Calls',
  errors: 'Failed calls',
  cpu: 'CPU time',
  storage: 'Stored',
} as const
