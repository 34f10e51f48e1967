/** No test asks the world: no name exists. */
export const noDns = (name: string): Promise<never> =>
  Promise.reject(Object.assign(new Error(`${name} is not there`), { code: 'ENOTFOUND' }))
