export default async () => {
  console.timeLog('no')
  console.timeEnd('no')
  console.time('t')
  console.time('t')
}
