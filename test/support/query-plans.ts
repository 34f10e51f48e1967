import { CompiledQuery, PostgresQueryCompiler } from 'kysely'

import type { SiteTx } from '#platform/postgres/database.ts'

/** Runs `work` in the transaction, and then has Postgres explain each of its statements, with the same parameters. */
export async function plansOf(
  tx: SiteTx,
  work: (tx: SiteTx) => Promise<unknown>,
): Promise<readonly string[]> {
  const compiler = new PostgresQueryCompiler()
  const queries: CompiledQuery[] = []
  const db = tx.db.withPlugin({
    transformQuery({ node, queryId }) {
      queries.push(compiler.compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await work({ ...tx, db: db as typeof tx.db })
  const plans: string[] = []
  for (const { sql, parameters } of queries) {
    const explain = CompiledQuery.raw(`explain ${sql}`, [...parameters])
    const { rows } = await tx.db.executeQuery<Record<'QUERY PLAN', string>>(explain)
    plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
  }
  return plans
}
