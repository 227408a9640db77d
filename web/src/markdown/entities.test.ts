import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeEntities } from './entities.ts';

test('decodes names and numbers, once', () => {
  assert.equal(decodeEntities('a &amp;lt; b &lt;i&gt; &#39;&#x2014; &nbsp;'), "a &lt; b <i> '— \u00a0");
});

test('keeps unknown names, and replaces invalid code points', () => {
  assert.equal(decodeEntities('&unknown; & &; &#0; &#xD800; &#x110000;'), '&unknown; & &; \ufffd \ufffd \ufffd');
});
