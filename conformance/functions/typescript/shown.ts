enum Level {
  low,
  high,
}
class Point {
  constructor(public x: number) {}
}
export default () => {
  console.log(Level, new Point(1), Point)
}
