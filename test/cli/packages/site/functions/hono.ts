import { Hono } from 'hono'

const app = new Hono<{ Variables: { startedBy: string } }>()
app.use('*', async (c, next) => {
  c.set('startedBy', 'middleware')
  await next()
  c.header('x-served-by', 'hono')
})
app.post('/data/hono', async (c) => {
  const { name } = await c.req.json()
  return c.json({ route: c.req.path, by: c.get('startedBy'), greeting: `Hello, ${name}!` })
})
app.notFound((c) => c.json({ lost: c.req.path }, 404))

export default app
