import { AsyncLocalStorage } from 'node:async_hooks'

import { PostgresQueryCompiler } from 'kysely'

import type { Database } from '#platform/postgres/database.ts'

const calls = new AsyncLocalStorage<string[]>()

/** The same database; what is run on it for sites can be seen with `statementsOf`. */
export function seen(database: Database): Database {
  const compiler = new PostgresQueryCompiler()
  const withSite: Database['withSite'] = (siteId, work) =>
    database.withSite(siteId, (tx) => {
      const db = tx.db.withPlugin({
        transformQuery({ node, queryId }) {
          calls.getStore()?.push(compiler.compileQuery(node, queryId).sql)
          return node
        },
        transformResult: async ({ result }) => result,
      })
      return work({ ...tx, db: db as typeof tx.db })
    })
  return new Proxy(database, {
    get(target, name) {
      if (name === 'withSite') return withSite
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** The statements that one call runs, in their order and without values; not those of workers that it wakes. */
export async function statementsOf<T>(
  call: () => Promise<T>,
): Promise<{ readonly outcome: T; readonly statements: readonly string[] }> {
  const statements: string[] = []
  const outcome = await calls.run(statements, call)
  // The trail is swept once in a while, on any request.
  const own = statements.filter((text) => !text.startsWith('delete from "security_event"'))
  return { outcome, statements: own }
}
