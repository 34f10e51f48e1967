/** Types of columns that the catalogue does not tell, by table and column. Those of a check `column in (…)` it tells. */
export const TYPE_OVERRIDES: ReadonlyMap<string, string> = new Map([
  // Its check is about the role, too.
  ['pool_user.status', `'INVITED' | 'ACTIVE' | 'DISABLED' | 'DELETING'`],
])
