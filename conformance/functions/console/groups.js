export default async () => {
  console.group('G')
  console.log('in\nside')
  console.group()
  console.log('deeper')
  console.warn({ a: 'x'.repeat(80) })
  console.groupEnd()
  console.groupEnd()
  console.groupEnd()
  console.log('out')
  console.groupCollapsed('a', 'b')
  console.info('i')
  console.groupEnd()
}
