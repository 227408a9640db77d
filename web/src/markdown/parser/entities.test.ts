import assert from 'node:assert/strict';
import { test } from 'node:test';
import '../../../test/browser-entities.ts';
import { decodeEntities } from './entities.ts';

test('decodes names and numbers, once', () => {
  assert.equal(decodeEntities('a &amp;lt; b &lt;i&gt; &#39;&#x2014; &nbsp;'), "a &lt; b <i> '— \u00a0");
});

test('keeps unknown names, and replaces invalid code points', () => {
  assert.equal(decodeEntities('&unknown; & &; &#0; &#xD800; &#x110000;'), '&unknown; & &; \ufffd \ufffd \ufffd');
});

test('decodes every name of HTML, and no name that only begins with one', () => {
  assert.equal(decodeEntities('&AElig;&frac34;&HilbertSpace;&ngE;&semi;'), 'Æ¾ℋ≧\u0338;');
  assert.equal(decodeEntities('&notit; &copy &ampx;'), '&notit; &copy &ampx;');
});
