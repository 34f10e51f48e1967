/** No test asks the world: every name is one that nobody has. */
export const noDns = (name: string): Promise<never> =>
  Promise.reject(Object.assign(new Error(`${name} is not there`), { code: 'ENOTFOUND' }))
