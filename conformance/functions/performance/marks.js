export default () => {
  performance.mark('a', { startTime: 1, detail: { x: 1 } })
  performance.mark('b', { startTime: 4 })
  const measure = performance.measure('m', 'a', 'b')
  const names = performance.getEntriesByType('mark').map(({ name }) => name)
  performance.clearMarks()
  performance.clearMeasures()
  return [measure.duration, measure.startTime, names, performance.getEntries().length]
}
