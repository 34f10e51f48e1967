export default async () => {
  const { port1, port2 } = new MessageChannel()
  const got = new Promise((resolve) => {
    port2.onmessage = ({ data }) => resolve(data)
  })
  port1.postMessage({ d: new Date(0), m: new Map([[1, 2]]) })
  const data = await got
  port1.close()
  return [data.d.getTime(), [...data.m]]
}
