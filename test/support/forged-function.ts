import { expect } from 'vitest'

import { asAdmin } from './postgres.ts'

/** Makes `forged_…` of a function in the database: the same, but one that says site `one` and asks for the rows of another. */
export const forgeFunction = (name: string, databaseUrl: string): Promise<void> =>
  asAdmin(async (admin) => {
    const [found] = await admin<{ source: string }[]>`
      select pg_get_functiondef(oid) as source from pg_proc where proname = ${name}`
    const turned = String(found?.source)
      .replace(`FUNCTION public.${name}(`, `FUNCTION public.forged_${name}(`)
      .replace("set_config('app.site_id', site, true)", "set_config('app.site_id', 'one', true)")
    expect(turned).toContain("'app.site_id', 'one'")
    await admin.unsafe(turned)
  }, databaseUrl)
