/**
 * Texts for each extension that GitHub Flavored Markdown adds to CommonMark (tables to disallowed raw HTML), with the HTML
 * that its specification asks for, except for the documented differences.
 */
export const gfmExamples: Record<string, readonly (readonly [markdown: string, html: string])[]> = {
  Tables: [
    [
      '| name | size |\n| --- | --- |\n| one | two |\n',
      '<table><thead><tr><th>name</th><th>size</th></tr></thead><tbody><tr><td>one</td><td>two</td></tr></tbody></table>',
    ],
    [
      '| left | mid |\n:-: | ----:\nleft | right\n',
      '<table><thead><tr><th align="center">left</th><th align="right">mid</th></tr></thead><tbody><tr><td align="center">left</td><td align="right">right</td></tr></tbody></table>',
    ],
    [
      '| a\\|b |\n| ------ |\n| c `\\|` d |\n| e **\\|** f |\n',
      '<table><thead><tr><th>a|b</th></tr></thead><tbody><tr><td>c <code>|</code> d</td></tr><tr><td>e <strong>|</strong> f</td></tr></tbody></table>',
    ],
    [
      '| a | b |\n| --- | --- |\n| 1 | 2 |\n> quoted\n',
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table><blockquote><p>quoted</p></blockquote>',
    ],
    [
      '| a | b |\n| --- | --- |\n| 1 | 2 |\nlast\n\nafter\n',
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr><tr><td>last</td><td></td></tr></tbody></table><p>after</p>',
    ],
    ['| a | b |\n| --- |\n| 1 |\n', '<p>| a | b |\n| --- |\n| 1 |</p>'],
    [
      '| a | b |\n| --- | --- |\n| 1 |\n| 1 | 2 | 3 |\n',
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td></td></tr><tr><td>1</td><td>2</td></tr></tbody></table>',
    ],
    ['| a | b |\n| --- | --- |\n', '<table><thead><tr><th>a</th><th>b</th></tr></thead></table>'],
    [
      '| a | b | c |\n|:------------------|:-------------|:------------|\n| 1 | 2 | 3 |\n',
      '<table><thead><tr><th align="left">a</th><th align="left">b</th><th align="left">c</th></tr></thead><tbody><tr><td align="left">1</td><td align="left">2</td><td align="left">3</td></tr></tbody></table>',
    ],
    [
      '- item\n\n  | a | b |\n  |:-:|--:|\n  | 1 | 2 |\n',
      '<ul><li><p>item</p><table><thead><tr><th align="center">a</th><th align="right">b</th></tr></thead><tbody><tr><td align="center">1</td><td align="right">2</td></tr></tbody></table></li></ul>',
    ],
    [
      '> | a | b |\n> |:--|:--|\n> | 1 | 2 |\n',
      '<blockquote><table><thead><tr><th align="left">a</th><th align="left">b</th></tr></thead><tbody><tr><td align="left">1</td><td align="left">2</td></tr></tbody></table></blockquote>',
    ],
    [
      '| a | a | a | a | a | a | a | a | a | a | a | a | a | a | a | a | a | a | a | a |\n| :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: | :---: |\n| 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |\n',
      '<table><thead><tr><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th><th align="center">a</th></tr></thead><tbody><tr><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td><td align="center">1</td></tr></tbody></table>',
    ],
    [
      `|${' a |'.repeat(20)}\n|${' :---: |'.repeat(20)}\n|${' 1 |'.repeat(20)}\n`,
      `<table><thead><tr>${'<th align="center">a</th>'.repeat(20)}</tr></thead><tbody><tr>${'<td align="center">1</td>'.repeat(20)}</tr></tbody></table>`,
    ],
  ],
  'Task lists': [
    [
      '- [ ] one\n- [x] two\n',
      '<ul><li><input disabled="" type="checkbox"> one</li><li><input checked="" disabled="" type="checkbox"> two</li></ul>',
    ],
    [
      '- [x] one\n  - [ ] two\n  - [X] three\n- [ ] four\n',
      '<ul><li><input checked="" disabled="" type="checkbox"> one<ul><li><input disabled="" type="checkbox"> two</li><li><input checked="" disabled="" type="checkbox"> three</li></ul></li><li><input disabled="" type="checkbox"> four</li></ul>',
    ],
    [
      '1. [ ] one\n- [ ]\n- [x]y\n',
      '<ol><li><input disabled="" type="checkbox"> one</li></ol><ul><li>[ ]</li><li>[x]y</li></ul>',
    ],
  ],
  Strikethrough: [
    ['~~old~~ new ~other~\n', '<p><del>old</del> new ~other~</p>'],
    ['This ~~has a\n\nnew paragraph~~.\n', '<p>This ~~has a</p><p>new paragraph~~.</p>'],
    ['Not ~~~struck~~~ out.\n', '<p>Not ~~~struck~~~ out.</p>'],
    ['~~a *b ~c~ d* e~~\n', '<p><del>a <em>b ~c~ d</em> e</del></p>'],
  ],
  Autolinks: [
    ['www.example.org\n', '<p><a href="http://www.example.org">www.example.org</a></p>'],
    [
      'See www.example.org/help for more.\n',
      '<p>See <a href="http://www.example.org/help">www.example.org/help</a> for more.</p>',
    ],
    [
      'Go to www.example.org.\n\nGo to www.example.org/a.b.\n',
      '<p>Go to <a href="http://www.example.org">www.example.org</a>.</p><p>Go to <a href="http://www.example.org/a.b">www.example.org/a.b</a>.</p>',
    ],
    [
      'www.example.org/find?q=Mark+(down)\n\n(www.example.org/find?q=Mark+(down)))\n',
      '<p><a href="http://www.example.org/find?q=Mark+(down)">www.example.org/find?q=Mark+(down)</a></p><p>(<a href="http://www.example.org/find?q=Mark+(down)">www.example.org/find?q=Mark+(down)</a>))</p>',
    ],
    [
      'www.example.org/find?q=(one))+two\n',
      '<p><a href="http://www.example.org/find?q=(one))+two">www.example.org/find?q=(one))+two</a></p>',
    ],
    [
      'www.example.org/find?q=a&b=c\n\nwww.example.org/find?q=a&copy;\n',
      '<p><a href="http://www.example.org/find?q=a&amp;b=c">www.example.org/find?q=a&amp;b=c</a></p><p><a href="http://www.example.org/find?q=a">www.example.org/find?q=a</a>©</p>',
    ],
    ['www.example.org/it<rest\n', '<p><a href="http://www.example.org/it">www.example.org/it</a>&lt;rest</p>'],
    [
      'http://example.org\n\n(see https://example.org/a?b=c*d)\n',
      '<p><a href="http://example.org">http://example.org</a></p><p>(see <a href="https://example.org/a?b=c*d">https://example.org/a?b=c*d</a>)</p>',
    ],
    ['some@example.org\n', '<p><a href="mailto:some@example.org">some@example.org</a></p>'],
    [
      'some@mail.example.org isn’t some+one@mail.example.org\n',
      '<p><a href="mailto:some@mail.example.org">some@mail.example.org</a> isn’t <a href="mailto:some+one@mail.example.org">some+one@mail.example.org</a></p>',
    ],
    [
      'a.b-c_d@a.b\n\na.b-c_d@a.b.\n\na.b-c_d@a.b-\n\na.b-c_d@a.b_\n',
      '<p><a href="mailto:a.b-c_d@a.b">a.b-c_d@a.b</a></p><p><a href="mailto:a.b-c_d@a.b">a.b-c_d@a.b</a>.</p><p>a.b-c_d@a.b-</p><p>a.b-c_d@a.b_</p>',
    ],
    [
      'mailto:some@a.b-c_d\n\nxmpp:some@example.org/text@bin\n',
      '<p><a href="mailto:some@a.b-c_d">mailto:some@a.b-c_d</a></p><p><a href="xmpp:some@example.org/text@bin">xmpp:some@example.org/text@bin</a></p>',
    ],
  ],
  'Disallowed raw HTML': [
    [
      '<b> <title> <style> <em>\n\n<blockquote>\n  <xmp> is off. <XMP> as well.\n</blockquote>\n',
      '<p><b> <title> <style> <em></p><blockquote>  <xmp> is off. <XMP> as well.</blockquote>',
    ],
  ],
};
