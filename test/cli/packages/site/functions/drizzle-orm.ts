import { and, eq, gt } from 'drizzle-orm'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/pg-proxy'

const orders = pgTable('orders', {
  id: integer('id').primaryKey(),
  buyer: text('buyer').notNull(),
  total: integer('total').notNull(),
})
type Order = typeof orders.$inferSelect

/** Any database that is reached over HTTP: here, what was asked comes back as the row. */
const asked: { sql: string; params: unknown[] }[] = []
const db = drizzle(async (sql, params) => {
  asked.push({ sql, params })
  return { rows: [[7, 'vic', 30]] }
})

export default async ({ payload }: { payload: { buyer: string } }) => {
  const rows: Order[] = await db
    .select()
    .from(orders)
    .where(and(eq(orders.buyer, payload.buyer), gt(orders.total, 20)))
  return { rows, asked: asked.at(-1) }
}
