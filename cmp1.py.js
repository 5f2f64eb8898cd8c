const fs=require('fs'); let s=fs.readFileSync('/tmp/h/g/L1b/book/static/accountant_many.js','utf8').replace("globalThis.manySteps = manySteps;","globalThis.OnMesh=OnMesh; globalThis.boxesOf=boxesOf;globalThis.fill=filled;globalThis.normal=normal");
eval(s); fill();
const [A,B,L,C,D]=JSON.parse(fs.readFileSync('/tmp/h/side.json'));
const mesh=.12*.01*Math.sqrt(Math.exp(4)+Math.exp(1)-2*Math.exp(2)), reach=9.3*2+Math.log(.01);
const one=new OnMesh(1,.01,mesh,Math.floor(reach/mesh)+1);
const bx=boxesOf('remove');
for (const [w,t] of [[A,[2,1,1]],[B,[1,0,1]],[C,bx[5][0]],[D,bx[5][1]]]) { const f=one.side(t); let worst=0,at=0; f.forEach((x,i)=>{const r=Math.abs(x-w[i])/(w[i]+1e-25); if(r>worst){worst=r;at=i}}); console.log(worst,at,f[at],w[at],f.length); }
const l=one.masses([2,1,1],[1,2,1]); let w=0, sum=0; l.forEach((x,i)=>{w=Math.max(w,Math.abs(x-L[i])); sum+=x}); console.log('mass',w, sum-1, L.reduce((a,b)=>a+b,-1));
console.log(normal(-9.123456),normal(-3),normal(-2.9999),normal(1.2345), normal(-12.77));
