// The structures of DLPack's binary interface, version 0.x (dlpack.h).
#pragma once

namespace lbm::bindings {

struct DlDevice {
    int type;  // 2: CUDA, 13: CUDA's managed memory
    int id;
};
struct DlType {
    unsigned char code;  // 2: float
    unsigned char bits;
    unsigned short lanes;
};
struct DlTensor {
    void* data;
    DlDevice device;
    int dimensions;
    DlType type;
    long long* shape;
    long long* strides;  // in elements; null for those of C
    unsigned long long offset;
};
struct DlManagedTensor {
    DlTensor tensor;
    void* context;
    void (*destroy)(DlManagedTensor*);
};

}  // namespace lbm::bindings
