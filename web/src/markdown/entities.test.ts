import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeEntities } from './entities.ts';

test('decodes names and numbers, once', () => {
  assert.equal(decodeEntities('a &amp;lt; b &lt;i&gt; &#39;&#x2014; &nbsp;'), "a &lt; b <i> '— \u00a0");
});

test('leaves unknown names, and replaces what is no character', () => {
  assert.equal(decodeEntities('&unknown; & &; &#0; &#xD800; &#x110000;'), '&unknown; & &; \ufffd \ufffd \ufffd');
});
