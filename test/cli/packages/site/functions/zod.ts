import * as z from 'zod'

const Order = z.object({
  buyer: z.email(),
  items: z.array(z.object({ sku: z.string().min(1), count: z.int().positive() })).min(1),
  note: z.string().trim().default('none'),
})

export default ({ payload }: { payload: unknown }) => {
  const parsed = Order.safeParse(payload)
  if (parsed.success) return { order: parsed.data }
  return { issues: parsed.error.issues.map(({ path, code }) => ({ path: path.join('.'), code })) }
}
