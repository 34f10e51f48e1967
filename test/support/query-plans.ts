import { CompiledQuery, PostgresQueryCompiler } from 'kysely'

import type { Database, SiteTx } from '#platform/postgres/database.ts'

/** The same database. After each transaction of a site, Postgres is asked how it ran each statement in it: `plans` has the answers. */
export function explaining(database: Database): {
  readonly database: Database
  readonly plans: string[]
} {
  const plans: string[] = []
  const withSite: Database['withSite'] = (siteId, work) =>
    database.withSite(siteId, async (tx) => {
      const { result, queries } = await watched(tx, work)
      for (const query of queries) plans.push(await planOf(tx, query))
      return result
    })
  const explained = new Proxy(database, {
    get(target, name) {
      if (name === 'withSite') return withSite
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { database: explained, plans }
}

async function watched<T>(tx: SiteTx, work: (tx: SiteTx) => Promise<T>) {
  const compiler = new PostgresQueryCompiler()
  const queries: CompiledQuery[] = []
  const db = tx.db.withPlugin({
    transformQuery({ node, queryId }) {
      queries.push(compiler.compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  })
  return { result: await work({ ...tx, db: db as typeof tx.db }), queries }
}

/** With the same parameters, in the same transaction. */
async function planOf(tx: SiteTx, { sql, parameters }: CompiledQuery): Promise<string> {
  const explain = CompiledQuery.raw(`explain ${sql}`, [...parameters])
  const { rows } = await tx.db.executeQuery<Record<'QUERY PLAN', string>>(explain)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}
