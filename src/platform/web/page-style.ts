/**
 * Style sheet for all status pages. Colour variables are named by meaning. `test/stack/relayer-page.test.ts` verifies that text and
 * background have a contrast of at least 4.5 in both colour schemes.
 */
export const PAGE_STYLE = `:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--muted:#57606a;--line:#d0d7de;--panel:#f6f8fa;--link:#0550ae;
--good:#116329;--good-bg:#dafbe1;--bad:#a40e26;--bad-bg:#ffebe9;--warn:#6f4400;--warn-bg:#fff3c4;--unknown:#424a53;--unknown-bg:#e6eaef;
--bar:#2da44e;--bar-bad:#cf222e;--bar-weak:#bf8700;--bar-2:#0969da;--bar-unknown:#8c959f;--band:#b6d4fe}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--muted:#9da7b1;--line:#3d444d;--panel:#161b22;--link:#79c0ff;
--good:#56d364;--good-bg:#12261e;--bad:#ff9d95;--bad-bg:#3c1618;--warn:#e3b341;--warn-bg:#332a12;--unknown:#b9c2cc;--unknown-bg:#262c34;
--bar:#3fb950;--bar-bad:#f85149;--bar-weak:#d29922;--bar-2:#58a6ff;--bar-unknown:#6e7681;--band:#1f3f66}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:var(--fg);background:var(--bg)}
a{color:var(--link)}
a:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible,summary:focus-visible{outline:3px solid var(--link);outline-offset:2px}
header,main,footer{max-width:76rem;margin:0 auto;padding:.4rem 1rem}
header{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;align-items:baseline;justify-content:space-between}
header nav{flex-basis:100%;display:flex;margin-top:-.25rem;flex-wrap:wrap;gap:.1rem 1.25rem}
header nav a{padding:.15rem 0;text-decoration:none}
header nav a[aria-current]{color:var(--fg);font-weight:600;border-bottom:2px solid currentColor}
h1{font-size:1.15rem;margin:0}
h2{font-size:1.1rem;margin:.7rem 0 .1rem}
h2 small{font-weight:400;color:var(--muted);font-size:.9rem;margin-left:.5rem}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
p{margin:.25rem 0 .75rem}
p{overflow-wrap:anywhere}
code{font-family:ui-monospace,SFMono-Regular,Menlo,monospace;font-size:.92em;overflow-wrap:anywhere}
.muted{color:var(--muted)}
.skip{position:absolute;left:-100rem}
.skip:focus{left:1rem;top:.5rem;background:var(--bg);padding:.25rem .5rem;z-index:3}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
html:not(.js) .js{display:none}
html.js .no-js{display:none}
#stream{margin:0}
.stale #stream{position:sticky;top:0;z-index:2;flex-basis:100%;padding:.5rem .75rem;font-weight:600;color:var(--bad);background:var(--bad-bg);border:2px solid var(--bad);border-radius:.4rem}
.stale header{position:sticky;top:0;z-index:2;background:var(--bg)}
.stale main{filter:grayscale(1)}
.verdict{border:1px solid var(--line);border-left-width:.6rem;border-radius:.4rem;padding:.5rem 1rem;margin:0 0 .75rem}
.verdict .headline{font-size:1.6rem;line-height:1.2;font-weight:700;margin:0 0 .25rem}
.verdict p:last-child,.verdict ul:last-child{margin-bottom:0}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}.unknown{color:var(--unknown)}
.verdict.good{background:var(--good-bg);border-color:var(--good)}
.verdict.bad{background:var(--bad-bg);border-color:var(--bad)}
.verdict.warn{background:var(--warn-bg);border-color:var(--warn)}
.verdict.unknown{background:var(--unknown-bg);border-color:var(--unknown);border-left-style:dashed}
.verdict>:not(.headline){color:var(--fg)}
.badge{display:inline-block;line-height:1.35;font-weight:600;padding:0 .45rem;border-radius:.3rem;border:1px solid currentColor;white-space:nowrap}
.badge.good{background:var(--good-bg)}.badge.bad{background:var(--bad-bg)}.badge.warn{background:var(--warn-bg)}.badge.unknown{background:var(--unknown-bg)}
.problems{list-style:none;padding:0;margin:0}
.problems li{padding:.2rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
.problems li:first-child{border-top:0}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.5rem;margin:0}
table+.facts,.facts+.plots{margin-top:1rem}
.facts>div{background:var(--panel);border:1px solid var(--line);border-radius:.4rem;padding:.45rem .65rem}
.facts>.wide{grid-column:span 2}
.facts dt{color:var(--muted);font-size:.85rem}
.facts dd{margin:0;font-size:1.15rem;line-height:1.35;font-weight:600;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.facts dd small{display:block;font-weight:400;color:var(--muted);font-size:.85rem}
.facts dd small.bad{color:var(--bad)}
table{border-collapse:collapse;width:100%}
caption{text-align:left;color:var(--muted);padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.15rem .9rem .15rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{font-weight:600}
thead th,tbody th,td button{white-space:nowrap}
tbody th code,tbody th small{white-space:normal}
.number{text-align:right;font-variant-numeric:tabular-nums}
td small,th small{display:block;color:var(--muted);font-weight:400}
th[aria-sort] a::after{content:" \\2193"}
th[aria-sort=ascending] a::after{content:" \\2191"}
form.filters{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:end;margin:.5rem 0}
label{display:block;font-size:.85rem;color:var(--muted)}
input,select,button{font:inherit;color:var(--fg);background:var(--bg);border:1px solid var(--muted);border-radius:.3rem;padding:.3rem .5rem;max-width:100%}
button{cursor:pointer;background:var(--panel)}
button:disabled{cursor:default;color:var(--muted)}
dialog{color:var(--fg);background:var(--bg);border:1px solid var(--line);border-radius:.5rem;max-width:26rem}
dialog::backdrop{background:rgba(0,0,0,.5)}
.pages{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:baseline}
.pages p{margin:.25rem 0}
details{border:1px solid var(--line);border-radius:.4rem;padding:.4rem .75rem;margin:.75rem 0}
summary{cursor:pointer;font-weight:600;overflow-wrap:anywhere}
#result{font-weight:600}#result:empty{margin:0}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr));gap:1rem}
figure{margin:0}
figcaption{font-size:.9rem;margin-bottom:.25rem}
svg{display:block;width:100%;max-width:28rem;height:auto;background:var(--panel);border:1px solid var(--line);border-radius:.4rem}
svg text{fill:var(--muted);font-size:11px;font-family:inherit}
.b-good{fill:var(--bar)}.b-bad{fill:var(--bar-bad)}.b-unknown{fill:var(--bar-unknown)}.b-weak{fill:var(--bar-weak)}.b-hollow{fill:none;stroke:var(--bar-unknown)}.b-plain{fill:var(--bar-2)}.b-none{fill:none;stroke:var(--line)}
.b-band{fill:var(--band)}.l-plain{fill:none;stroke:var(--bar-2);stroke-width:2}.l-bad{stroke:var(--bad);stroke-width:1.5;stroke-dasharray:6 3}.l-warn{stroke:var(--warn);stroke-width:1.5;stroke-dasharray:2 3}
.l-axis{stroke:var(--line)}
.number small{white-space:nowrap}
.columns{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,28rem);gap:0 1.5rem}
.columns>div{min-width:0}
.head{display:flex;flex-wrap:wrap;gap:0 1rem;align-items:baseline}
.lines li{padding:.15rem 0}
.lines details{border:0;padding:0;margin:0}
.lines summary{font-weight:400}
.lines details:not([open])>summary{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.lines p{margin:.25rem 0 .25rem 1rem}
svg.spark{display:inline-block;width:auto;height:1.1rem;max-width:none;vertical-align:middle;background:none;border:0;border-radius:0}
svg.gauge{height:.4rem;max-width:none;margin:.25rem 0}
.columns .number{white-space:nowrap}
.copies{list-style:none;font-size:.9rem;line-height:1.25;padding:0;margin:.25rem 0 0}
.copies li{display:flex;gap:.5rem;justify-content:space-between;align-items:center;padding:.15rem 0;border-top:1px solid var(--line)}
.copies li>span{min-width:0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.copies code{overflow-wrap:normal}
.copies button{padding:.05rem .4rem}
.key-line{font-size:.85rem;margin:.25rem 0}.key-line .entry:first-child .key{margin-left:0}
.timeline p{margin:.35rem 0 .1rem;font-size:.85rem;overflow-wrap:anywhere}
.timeline svg{max-width:none;height:1rem}.timeline path{vector-effect:non-scaling-stroke}
.timeline .ends{display:flex;justify-content:space-between;color:var(--muted)}
#calls th code,#calls .number{white-space:nowrap}
.scroll{overflow-x:auto}
svg.flame{max-width:none;min-width:44rem}
svg.flame text{fill:var(--fg);pointer-events:none}
svg.flame rect{fill:var(--panel);stroke:var(--line)}
svg.flame a:hover rect{stroke:var(--fg)}
svg.flame .f-function,.fk-function{fill:var(--warn-bg);background:var(--warn-bg)}svg.flame .f-host,.fk-host{fill:var(--band);background:var(--band)}
svg.flame .f-storage,.fk-storage{fill:var(--good-bg);background:var(--good-bg)}svg.flame .f-cost,.fk-cost{fill:var(--unknown-bg);background:var(--unknown-bg)}
.fk-contract{background:var(--panel)}[class*="fk-"]{border:1px solid var(--muted)}
.stack{margin:0 0 .75rem;overflow-wrap:anywhere}
.entry{white-space:nowrap}
.key{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 .8em;border-radius:.15em;vertical-align:-.05em}
.k-good{background:var(--bar)}.k-bad{background:var(--bar-bad)}.k-unknown{background:var(--bar-unknown)}.k-weak{background:var(--bar-weak)}.k-plain{background:var(--bar-2)}.k-none{border:1px solid var(--line)}
footer{color:var(--muted);border-top:1px solid var(--line);margin-top:.5rem}footer p{margin:.1rem 0}
@media(max-width:44rem){
.verdict .headline{font-size:1.4rem}
.facts{grid-template-columns:repeat(2,minmax(0,1fr))}
table.cards,table.cards caption,table.cards tbody,table.cards tr,table.cards td,table.cards th[scope=row]{display:block;width:100%}
table.cards thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
table.cards tr{border:1px solid var(--line);border-radius:.4rem;padding:.25rem .6rem;margin:.4rem 0}
table.cards th[scope=row]{white-space:normal}
table.cards td,table.cards th[scope=row]{border:0;padding:.1rem 0;text-align:left}
table.cards td[data-label]{display:flex;gap:.75rem;justify-content:space-between;text-align:right}
table.cards tr td.minor,table.cards td:has(>span:empty){display:none}
table.cards .badge,.copies li>span{white-space:normal}
.copies code{overflow-wrap:anywhere}
table.cards td[data-label]::before{content:attr(data-label);color:var(--muted);font-weight:400;text-align:left;flex:none}
.columns{grid-template-columns:minmax(0,1fr)}
.number small{white-space:normal}
form.filters>*,form.filters input,form.filters select,form.filters button{width:100%}
}
@media(prefers-reduced-motion:no-preference){.skip{transition:left .1s}}`;
