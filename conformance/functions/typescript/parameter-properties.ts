class Point {
  constructor(
    readonly x: number,
    private y = 2,
  ) {}
  sum() {
    return this.x + this.y
  }
}
export default () => [new Point(1).sum(), Object.keys(new Point(3))]
