/**
 * Coefficients of the least-squares fit of `amounts` times coefficients to `results`, one result per row. Rows are
 * weighted by their result, which minimizes the relative error. Coefficients are never negative: a column with a
 * negative one is left out.
 */
export function leastSquares(amounts: readonly (readonly number[])[], results: readonly number[]): number[] {
  const width = amounts[0]?.length ?? 0;
  let kept = Array.from({ length: width }, (_, index) => index);
  for (;;) {
    const weighed = amounts.map((row, at) => kept.map((column) => (row[column] ?? 0) / (results[at] || 1)));
    const found = solve(
      kept.map((_, one) => kept.map((_, two) => sum(weighed.map((row) => (row[one] ?? 0) * (row[two] ?? 0))))),
      kept.map((_, one) => sum(weighed.map((row) => row[one] ?? 0))),
    );
    const lowest = found.indexOf(Math.min(...found));
    if ((found[lowest] ?? 0) >= 0) {
      return Array.from({ length: width }, (_, column) => found[kept.indexOf(column)] ?? 0);
    }
    kept = kept.filter((_, index) => index !== lowest);
  }
}

/** Gauss with the largest pivot. */
function solve(matrix: number[][], right: number[]): number[] {
  const size = right.length;
  const rows = matrix.map((row, index) => [...row, right[index] ?? 0]);
  for (let column = 0; column < size; column++) {
    const below = rows.slice(column).map((row) => Math.abs(row[column] ?? 0));
    const pivot = column + below.indexOf(Math.max(...below));
    [rows[column], rows[pivot]] = [rows[pivot] ?? [], rows[column] ?? []];
    const top = rows[column] ?? [];
    for (let at = 0; at < size; at++) {
      if (at === column) continue;
      const factor = (rows[at]?.[column] ?? 0) / (top[column] || Number.EPSILON);
      rows[at] = (rows[at] ?? []).map((value, index) => value - factor * (top[index] ?? 0));
    }
  }
  return rows.map((row, index) => (row[size] ?? 0) / (row[index] || Number.EPSILON));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
