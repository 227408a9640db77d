import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pixels, shrink, turnUpright } from './pixels.ts';

/** A picture whose pixels have these values of red. */
function picture(rows: readonly (readonly number[])[], alpha = 255): Pixels {
  const data = Uint8ClampedArray.from(rows.flat().flatMap((red) => [red, 0, 0, alpha]));
  return { data, width: rows[0]?.length ?? 0, height: rows.length };
}

function redOf({ data, width, height }: Pixels): (number | undefined)[][] {
  return Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_, x) => data[(y * width + x) * 4]));
}

test('turns a picture of every orientation upright', () => {
  // The letter F, as each orientation stores it.
  const upright = [
    [1, 2],
    [3, 0],
    [5, 0],
  ];
  const stored: Record<number, number[][]> = {
    1: upright,
    2: [
      [2, 1],
      [0, 3],
      [0, 5],
    ],
    3: [
      [0, 5],
      [0, 3],
      [2, 1],
    ],
    4: [
      [5, 0],
      [3, 0],
      [1, 2],
    ],
    5: [
      [1, 3, 5],
      [2, 0, 0],
    ],
    6: [
      [2, 0, 0],
      [1, 3, 5],
    ],
    7: [
      [0, 0, 2],
      [5, 3, 1],
    ],
    8: [
      [5, 3, 1],
      [0, 0, 2],
    ],
  };
  for (const [orientation, rows] of Object.entries(stored)) {
    assert.deepEqual(redOf(turnUpright(picture(rows), Number(orientation))), upright, orientation);
  }
});

test('averages the area of each new pixel, on white', () => {
  assert.deepEqual(
    redOf(
      shrink(
        picture([
          [0, 100, 50, 150],
          [0, 100, 50, 150],
        ]),
        2,
      ),
    ),
    [[50, 100]],
  );
  assert.deepEqual(redOf(shrink(picture([[0, 90, 240]]), 2)), [[30, 190]]);
  assert.deepEqual(redOf(shrink(picture([[10, 20]], 0), 2)), [[255, 255]], 'transparent pixels are white');
  assert.deepEqual(redOf(shrink(picture([[7]]), 2_000)), [[7]], 'a small picture is not enlarged');
});

test('keeps an even color and one pixel a side at least for any size', () => {
  for (const [width, height] of [
    [1, 999],
    [999, 1],
    [101, 67],
    [2_001, 3],
    [64, 64],
  ] as const) {
    for (const longest of [1, 7, 64, 100, 2_000]) {
      const even = picture(Array.from({ length: height }, () => Array.from({ length: width }, () => 123)));
      const small = shrink(even, longest);
      assert.ok(Math.max(small.width, small.height) <= longest && small.width > 0 && small.height > 0);
      const reds = new Set(redOf(small).flat());
      assert.deepEqual([...reds], [123], `${width} × ${height} to ${longest}`);
    }
  }
});
