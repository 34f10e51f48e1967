enum Level {
  low = 1,
  high,
  top = 'x' as any,
}
const enum Size {
  s = 4,
}
export default (): unknown => [Level.low, Level[2], Object.keys(Level), Size.s]
